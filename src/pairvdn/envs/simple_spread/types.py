"""The state of Simple Spread."""

import equinox as eqx
from jaxtyping import Array, Float, Int32


class SimpleSpreadState(eqx.Module):
    """Everything that the next step depends on; the landmarks stay where they are."""

    position: Float[Array, "n 2"]
    velocity: Float[Array, "n 2"]
    landmarks: Float[Array, "n 2"]
    steps: Int32[Array, ""]
