"""The state of Aloha."""

import equinox as eqx
from jaxtyping import Array, Int32


class AlohaState(eqx.Module):
    """Messages that wait at each station."""

    queues: Int32[Array, " n"]
    steps: Int32[Array, ""]
