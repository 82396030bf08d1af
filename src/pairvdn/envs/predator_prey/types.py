"""The state of predator-prey."""

import equinox as eqx
from jaxtyping import Array, Bool, Int32


class PredatorPreyState(eqx.Module):
    """Where everyone is; those who left keep the cell where they were last."""

    predators: Int32[Array, "n 2"]
    hunting: Bool[Array, " n"]  # predators that have not left
    prey: Int32[Array, "k 2"]
    alive: Bool[Array, " k"]  # prey that was not captured
    steps: Int32[Array, ""]
