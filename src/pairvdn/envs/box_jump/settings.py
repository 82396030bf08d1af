"""What the contact solvers need to know of the world."""

from typing import NamedTuple

BAUMGARTE = 0.2  # share of an overlap that one position iteration removes at a point, as in Box2D
MAX_CORRECTION = 0.2  # and the most that it moves


class Settings(NamedTuple):
    """Numbers that are fixed when the environment is made."""

    floor: tuple[float, float]  # where it begins and ends
    box_friction: float  # between boxes
    floor_friction: float  # between a box and the floor
    time_step: float
    velocity_iterations: int
    position_iterations: int
