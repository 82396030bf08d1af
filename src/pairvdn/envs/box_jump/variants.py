"""The parameters of Box Jump, checked, and its three variants."""

import dataclasses
import math
import typing
from typing import Any, Literal

from pairvdn.checks import (
    INT32,
    MOST_AGENTS,
    hint,
    number_within,
    require_above,
    require_bool,
    require_one_of,
    shown,
    whole_number,
)

RewardName = Literal[
    "highest",
    "highest_stable",
    "height_sq",
    "stable_sum",
    "dense_height",
    "dense_height_sq",
    "dense_height_cube",
    "dense_height_stable",
    "dense_height_stable_sq",
    "dense_height_stable_cube",
]
ScalingName = Literal["paper", "table1", "boxes"]
SharedNumber = Literal["best", "time", "num_boxes", "top"]

_AT_LEAST_1 = ("num_boxes", "max_steps", "substeps", "velocity_iterations")
_ABOVE_0 = ("spacing", "map_width", "best_divisor", "time_step", "walk_speed", "jump_calm")
_OF_ANY_SIGN = ("best_start", "floor_left")


@dataclasses.dataclass(frozen=True)
class Parameters:
    """The parameters of Box Jump; the defaults are those of the variant `paper`.

    Lengths are in box widths, times in seconds, and boxes have mass 1.

    Attributes:
        num_boxes: Number of boxes, which are the agents.
        fixed_rotation: Whether boxes stay upright.
        max_steps: Steps after which an episode is truncated.
        reward: Reward of the team: gain of the best height, or a function of the current heights.
        best_start: Height from which `highest` counts.
        best_divisor: Divisor of `highest` and of the observed best height.
        best_lags: Whether `highest` counts the best height before the step, and the observed best
            height is a step older still.
        stacking_reward: Training reward for each box by which stacking grows.
        gathering_reward: Training reward for each box width by which boxes come closer together.
        fall_penalty: A fallen box costs fall_penalty / max_steps in each step.
        fall_ends: Whether a fall ends the episode.
        fall_end_penalty: Cost to the team of a fall that ends the episode.
        target_height: Best height at which the episode ends; none: no limit.
        spacing: Distance between the boxes at the start.
        start_height: Height of a box's lower side above the floor at the start.
        start_noise: Largest shift of each x at the start.
        start_kick: Largest horizontal speed of each box at the start.
        kick_hidden: Whether the first observation shows all boxes at rest.
        start_tower: Largest number of boxes stacked at the start.
        map_width: Width of the map, which grows if the boxes and the margin do not fit.
        margin: Free space at each side of the boxes at the start.
        floor_left: Left end of the floor, at most 0; it ends at the map's right edge.
        walk_force: Force of the actions left and right.
        walk_speed: Speed above which a box is not pushed further that way.
        jump_force: Force of the action jump.
        jump_calm: Vertical speed below which a box counts as standing.
        look_back: Physics steps for which a box must stand before it can jump.
        jump_flag_lags: Whether "can jump" is observed as it was in the physics step that led to the
            observation, not as it will be in the next one.
        scaling: Units of the observation.
        shared_numbers: Numbers that all boxes observe: `best` height, `time`, `num_boxes`, x of the
            highest box (`top`).
        fallen_seen: Whether fallen boxes stay visible and observe their distance to the floor.
        agent_ids: Whether boxes observe a one-hot identifier.
        substeps: Physics steps in a step.
        time_step: Duration of a physics step.
        gravity: Downward acceleration.
        box_friction: Friction between boxes.
        floor_friction: Friction of the floor, mixed with the boxes' as a geometric mean.
        angular_damping: Rate at which a box stops turning.
        velocity_iterations: Sweeps of the velocity solver over the contacts.
        position_iterations: Sweeps of the position solver over the contacts.
    """

    num_boxes: int = 16
    fixed_rotation: bool = False
    max_steps: int = 400
    # Rewards and ends.
    reward: RewardName = "highest"
    best_start: float = 0.0
    best_divisor: float = 1.0
    best_lags: bool = False
    stacking_reward: float = 0.0
    gathering_reward: float = 0.0
    fall_penalty: float = 20.0
    fall_ends: bool = False
    fall_end_penalty: float = 0.0
    target_height: float | None = None
    # Start.
    spacing: float = 1.5
    start_height: float = 0.0
    start_noise: float = 0.5
    start_kick: float = 0.0
    kick_hidden: bool = False
    start_tower: int = 0
    # Map.
    map_width: float = 30.0
    margin: float = 3.75
    floor_left: float = 0.0
    # Actions.
    walk_force: float = 10.0
    walk_speed: float = 2.0
    jump_force: float = 250.0
    jump_calm: float = 0.5
    look_back: int = 15
    jump_flag_lags: bool = True
    # Observation.
    scaling: ScalingName = "paper"
    shared_numbers: tuple[SharedNumber, ...] = ("best", "time")
    fallen_seen: bool = False
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
        for field in dataclasses.fields(self):
            value = _checked(field.name, field.type, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        if self.start_tower > self.num_boxes:
            raise ValueError(
                f"start_tower must be at most num_boxes, {self.num_boxes}, not {self.start_tower}."
            )

    @property
    def width(self) -> float:
        """Width of the map, grown so that every box starts at least `margin` from its sides."""
        return max(self.map_width, self.spacing * (self.num_boxes - 1) + 2 * self.margin)


def _checked(name: str, kind: Any, value: Any) -> Any:
    """The value of the field `name` as its type `kind`; ValueError if it does not fit."""
    if kind is bool:
        require_bool(**{name: value})
        return value
    if kind is int:
        most = INT32 if name == "max_steps" else MOST_AGENTS  # of boxes, iterations and frames
        return whole_number(name, value, 1 if name in _AT_LEAST_1 else 0, most)
    if typing.get_origin(kind) is Literal:
        require_one_of(typing.get_args(kind), **{name: value})
        return value
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} must be a list, not {shown(value)}.")
        return tuple(_checked(name, typing.get_args(kind)[0], one) for one in value)
    if value is None and name == "target_height":
        return None
    low = -math.inf if name in _OF_ANY_SIGN else 0
    number = number_within(name, value, low, 0 if name == "floor_left" else math.inf)
    if name in (*_ABOVE_0, "target_height"):
        require_above(0, **{name: number})
    return number


VariantName = Literal["paper", "table1", "v1"]
VARIANTS: dict[VariantName, Parameters] = {
    "paper": Parameters(),
    "table1": Parameters(
        best_start=-15.0,
        best_divisor=15.0,
        best_lags=True,
        fall_penalty=0.0,
        start_height=0.5,
        start_noise=0.0,
        start_kick=3.75,
        kick_hidden=True,
        floor_left=-30.0,
        look_back=10,
        scaling="table1",
        shared_numbers=("best",),
        fallen_seen=True,
    ),
    "v1": Parameters(
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
    ),
}


def parameters_from(variant: VariantName, arguments: dict[str, Any]) -> Parameters:
    """The variant's numbers, except those in `arguments` that are not None."""
    require_one_of(VARIANTS, variant=variant)
    known = {field.name for field in dataclasses.fields(Parameters)}
    for name in arguments:
        if name not in known:
            raise ValueError(f"Box Jump has no argument {name!r}; {hint(name, known)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    return dataclasses.replace(VARIANTS[variant], **given)
