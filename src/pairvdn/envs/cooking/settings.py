"""The settings of a kitchen, checked, and its variants."""

import dataclasses
import math
from typing import Any, Literal, TypedDict

from pairvdn.checks import hint, number_within, require_bool, require_one_of, whole_number
from pairvdn.envs.cooking.level import Level, Meta, default_meta, load_level, load_meta
from pairvdn.envs.cooking.recipes import RECIPES
from pairvdn.envs.cooking.state import MAX_AGENTS

SALAD, FRUIT = "TomatoLettuceSalad", "CarrotBanana"
VariantName = Literal["paper", "solvable", "coop", "easy"]
ViewName = Literal["original", "reach"]


@dataclasses.dataclass(frozen=True)
class Settings:
    """A kitchen and its rewards; the defaults are those of the paper's code. See `Changes`."""

    level: Level
    meta: Meta
    recipes: tuple[str, ...]
    recipe_reward: float | int = 20.0
    recipe_penalty: float | int = -20.0
    recipe_node_reward: float | int = 5.0
    plating_reward: float | int = 0.0
    max_time_penalty: float | int = -5.0
    max_steps: int = 400
    end_all: bool = True
    view: ViewName = "original"

    def __post_init__(self) -> None:
        if not 1 <= len(self.recipes) <= MAX_AGENTS:
            raise ValueError(
                f"recipes must have 1 to {MAX_AGENTS} entries, one per agent, not {self.recipes!r}."
            )
        for recipe in self.recipes:
            require_one_of(RECIPES, recipes=recipe)
        for field in dataclasses.fields(self):
            if field.type == float | int:
                number_within(field.name, getattr(self, field.name), -math.inf, math.inf)
        whole_number("max_steps", self.max_steps, 1)
        require_bool(end_all=self.end_all)
        require_one_of(("original", "reach"), view=self.view)


class Changes(TypedDict, total=False):
    """Settings that differ from those of the variant.

    Attributes:
        level: Level: a name from the package, or the path of a .json file.
        meta: Number of observed things of each class: a name from the package, or the path of a
            .json file.
        recipes: Recipe of each agent; their number is the number of agents.
        recipe_reward: Reward of an agent when its recipe is done.
        recipe_penalty: Reward of an agent when its recipe is undone.
        recipe_node_reward: Reward of an agent for each newly marked node of its recipe.
        plating_reward: Training reward, 0 in the original: for each ready ingredient of an agent's
            recipe on the plate that holds the most of them.
        max_time_penalty: Reward of an agent for the time of a whole episode, spread over its steps.
        max_steps: Steps after which an episode is truncated.
        end_all: Whether the episode ends when all recipes are done, instead of any.
        view: Numbers that agents observe: those of the original, or `reach`.
    """

    level: str
    meta: str
    recipes: tuple[str, ...]
    recipe_reward: float
    recipe_penalty: float
    recipe_node_reward: float
    plating_reward: float
    max_time_penalty: float
    max_steps: int
    end_all: bool
    view: ViewName


# The recipes of `paper` are those of the paper's code. Its level has neither carrots nor bananas,
# so two of the three cannot be cooked. `solvable` is the same level with recipes that can.
VARIANTS: dict[VariantName, Changes] = {
    "paper": {"level": "simple_rec_fixed", "recipes": (SALAD, FRUIT, FRUIT)},
    "solvable": {"level": "simple_rec_fixed", "recipes": (SALAD,) * 3},
    "coop": {"level": "coop_test", "recipes": (SALAD, FRUIT)},
    "easy": {"level": "two_cooks", "recipes": ("TomatoSalad",) * 2, "max_steps": 200},
}


def settings_from(variant: VariantName, changes: dict[str, Any]) -> Settings:
    """The variant's settings, except those in `changes` that are not None."""
    require_one_of(VARIANTS, variant=variant)
    known = list(Changes.__annotations__)
    for name in changes:
        if name not in known:
            raise ValueError(f"Cooking has no argument {name!r}; {hint(name, known)}")
    given = {name: value for name, value in changes.items() if value is not None}
    chosen: dict[str, Any] = {**VARIANTS[variant], **given}
    name, meta = chosen.pop("level"), chosen.pop("meta", None)
    recipes = tuple(chosen.pop("recipes"))
    level = load_level(name)
    counts = default_meta(name, level, len(recipes)) if meta is None else load_meta(meta)
    return Settings(level=level, meta=counts, recipes=recipes, **chosen)
