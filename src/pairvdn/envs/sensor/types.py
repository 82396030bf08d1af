"""The state of Sensor."""

import equinox as eqx
from jaxtyping import Array, Int32


class SensorState(eqx.Module):
    """Where the targets are, and for a scene which cell each sensor scanned last."""

    targets: Int32[Array, "k 2"]
    scanned: Int32[Array, "n 2"]  # its own cell: none
    steps: Int32[Array, ""]
