"""The state of a one-step game."""

import equinox as eqx
from jaxtyping import Array, Int32


class OneStepState(eqx.Module):
    """What was played: -1 for everybody until the one step of the episode."""

    actions: Int32[Array, " n"]
