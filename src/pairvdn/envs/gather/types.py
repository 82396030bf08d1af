"""The state of Gather."""

import equinox as eqx
from jaxtyping import Array, Bool, Int32


class GatherState(eqx.Module):
    """Where the agents are; which goal is the true one, and who knows it."""

    agents: Int32[Array, "n 2"]
    goal: Int32[Array, ""]
    informed: Bool[Array, " n"]
    steps: Int32[Array, ""]
