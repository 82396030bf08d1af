"""Every number of Box Jump, checked, and the three sets of them that are known by name."""

import dataclasses
import math
from typing import Any

from pairvdn.checks import hint
from pairvdn.envs.box_jump.observe import SCALINGS, SHARED_NUMBERS
from pairvdn.envs.box_jump.reward import REWARDS


@dataclasses.dataclass(frozen=True)
class Parameters:
    """The numbers of Box Jump; the defaults are those of the variant `paper`.

    Lengths in box widths, times in seconds, boxes have mass 1.
    """

    num_boxes: int = 16
    fixed_rotation: bool = False
    max_steps: int = 400
    # Rewards and ends.
    reward: str = "highest"
    best_start: float = 0.0  # what `highest` counts from
    best_divisor: float = 1.0  # `highest` and the observed best height are divided by it
    stacking_reward: float = 0.0  # for each box by which `stacking` grows
    fall_penalty: float = 20.0  # a fallen box costs fall_penalty / max_steps in each step
    fall_ends: bool = False  # a fall ends the episode ...
    fall_end_penalty: float = 0.0  # ... and costs the team this
    target_height: float | None = None  # reaching it ends the episode
    # Start.
    spacing: float = 1.5
    start_height: float = 0.0  # of a box's lower side above the floor
    start_noise: float = 0.5  # each x is shifted by up to this
    start_kick: float = 0.0  # each x velocity is up to this
    start_tower: int = 0  # up to so many boxes stand on each other at the start
    # Map. It grows when the boxes and the margin do not fit.
    map_width: float = 30.0
    margin: float = 3.75
    floor_left: float = 0.0  # the floor ends at the map's right edge
    # Actions.
    walk_force: float = 10.0
    walk_speed: float = 2.0  # faster than this no further force acts that way
    jump_force: float = 250.0
    jump_calm: float = 0.5  # vertical speed below which a box counts as standing ...
    look_back: int = 15  # ... and how many physics steps it must have stood to jump
    # Observation.
    scaling: str = "paper"
    shared_numbers: tuple[str, ...] = ("best", "time")
    agent_ids: bool = False
    # Physics.
    substeps: int = 1
    time_step: float = 1 / 40
    gravity: float = 10.0
    box_friction: float = 0.8
    floor_friction: float = 0.2
    angular_damping: float = 1.0
    velocity_iterations: int = 8
    position_iterations: int = 3

    def __post_init__(self) -> None:
        for name in ("num_boxes", "max_steps", "substeps", "velocity_iterations"):
            _check_least(name, getattr(self, name), 1)
        for name in (
            "look_back",
            "position_iterations",
            "start_height",
            "start_noise",
            "start_kick",
            "start_tower",
        ):
            _check_least(name, getattr(self, name), 0)
        for name in ("stacking_reward", "fall_penalty", "fall_end_penalty"):
            _check_least(name, getattr(self, name), 0)
        for name in ("margin", "walk_force", "jump_force"):
            _check_least(name, getattr(self, name), 0)
        for name in ("gravity", "box_friction", "floor_friction", "angular_damping"):
            _check_least(name, getattr(self, name), 0)
        for name in (
            "spacing",
            "map_width",
            "best_divisor",
            "time_step",
            "walk_speed",
            "jump_calm",
        ):
            _check_positive(name, getattr(self, name))
        _check_choice("reward", self.reward, REWARDS)
        _check_choice("scaling", self.scaling, SCALINGS)
        for name in self.shared_numbers:
            _check_choice("shared_numbers", name, SHARED_NUMBERS)
        if self.start_tower > self.num_boxes:
            raise ValueError(
                f"start_tower must be at most num_boxes, {self.num_boxes}; got {self.start_tower}."
            )
        if self.floor_left > 0:
            raise ValueError(
                f"floor_left must be at most 0, the map's left; got {self.floor_left}."
            )
        if self.target_height is not None:
            _check_positive("target_height", self.target_height)

    @property
    def width(self) -> float:
        """Width of the map, grown so that every box starts at least `margin` from its sides."""
        return max(self.map_width, self.spacing * (self.num_boxes - 1) + 2 * self.margin)


def _typed(name: str, kind: Any, value: Any) -> Any:
    """The value as what the field is; an int is welcome where a float is meant."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    number = whole or (isinstance(value, float) and math.isfinite(value))
    if kind in (float, float | None) and number:
        return float(value)
    fits = {
        bool: isinstance(value, bool),
        int: whole,
        str: isinstance(value, str),
        tuple[str, ...]: isinstance(value, tuple) and all(isinstance(v, str) for v in value),
    }
    if not fits.get(kind, False):
        kind_name = kind.__name__ if isinstance(kind, type) else str(kind)
        raise ValueError(f"{name} must be a finite {kind_name}; got {value!r}.")
    return value


def _check_least(name: str, value: int | float, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}.")


def _check_positive(name: str, value: int | float) -> None:
    if value <= 0:
        raise ValueError(f"{name} must be greater than 0; got {value}.")


def _check_choice(name: str, value: str, choices: Any) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


_TABLE1 = Parameters(
    best_start=-15.0,
    best_divisor=15.0,
    fall_penalty=0.0,
    start_height=0.5,
    start_noise=0.0,
    start_kick=3.75,
    floor_left=-30.0,
    look_back=10,
    scaling="table1",
    shared_numbers=("best",),
)
_V1 = Parameters(
    fixed_rotation=True,
    fall_penalty=0.0,
    fall_ends=True,
    fall_end_penalty=100.0,
    look_back=10,
    shared_numbers=("num_boxes",),
    substeps=6,
    time_step=1 / 20,
    walk_force=5.0,
    jump_force=125.0,
)
VARIANTS = {"paper": Parameters(), "table1": _TABLE1, "v1": _V1}


def parameters_from(variant: str, arguments: dict[str, Any]) -> Parameters:
    """The variant's numbers, except those in `arguments` that are not None."""
    _check_choice("variant", variant, VARIANTS)
    kinds = {field.name: field.type for field in dataclasses.fields(Parameters)}
    for name in arguments:
        if name not in kinds:
            raise ValueError(f"Box Jump has no argument {name!r}; {hint(name, kinds)}")
    given = {
        name: _typed(name, kinds[name], value)
        for name, value in arguments.items()
        if value is not None
    }
    return dataclasses.replace(VARIANTS[variant], **given)
