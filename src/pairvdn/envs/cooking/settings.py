"""Every setting of the kitchen, checked, and the sets of them that are known by name."""

import dataclasses
import math
from typing import Any, TypedDict

from pairvdn.checks import hint
from pairvdn.envs.cooking.catalogue import MAX_AGENTS
from pairvdn.envs.cooking.level import Level, Meta
from pairvdn.envs.cooking.library import default_meta, load_level, load_meta
from pairvdn.envs.cooking.recipes import RECIPES
from pairvdn.envs.cooking.views import VIEWS

SALAD, FRUIT = "TomatoLettuceSalad", "CarrotBanana"
NUMBERS = (
    "recipe_reward",
    "recipe_penalty",
    "recipe_node_reward",
    "plating_reward",
    "max_time_penalty",
)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a kitchen is made of; the defaults are the rewards of the paper's code."""

    level: Level
    meta: Meta
    recipes: tuple[str, ...]  # one per agent
    recipe_reward: float | int = 20.0
    recipe_penalty: float | int = -20.0
    recipe_node_reward: float | int = 5.0
    plating_reward: float | int = 0.0  # not in the original: see `reward`
    max_time_penalty: float | int = -5.0  # of a whole episode
    max_steps: int = 400
    end_all: bool = True  # ends when all recipes are done, else when any is
    view: str = "original"  # how agents see the kitchen, one of VIEWS

    def __post_init__(self) -> None:
        if not 1 <= len(self.recipes) <= MAX_AGENTS:
            raise ValueError(
                f"recipes must be 1 to {MAX_AGENTS}, one per agent; got {self.recipes!r}."
            )
        for recipe in self.recipes:
            if recipe not in RECIPES:
                raise ValueError(f"recipes must be of {', '.join(RECIPES)}; got {recipe!r}.")
        for name in NUMBERS:
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not math.isfinite(value)
            ):
                raise ValueError(f"{name} must be a finite number; got {value!r}.")
        if (
            isinstance(self.max_steps, bool)
            or not isinstance(self.max_steps, int)
            or self.max_steps < 1
        ):
            raise ValueError(
                f"max_steps must be a whole number of at least 1; got {self.max_steps!r}."
            )
        if not isinstance(self.end_all, bool):
            raise ValueError(f"end_all must be True or False; got {self.end_all!r}.")
        if self.view not in VIEWS:
            raise ValueError(f"view must be one of {', '.join(VIEWS)}; got {self.view!r}.")


class Changes(TypedDict, total=False):
    """What may be said of a kitchen instead of what its variant says.

    `level` and `meta` are names of the package's files, or paths of your own ending in .json.
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
    view: str


# The recipes of `paper` are those of the paper's code, and in its level, which has neither carrots
# nor bananas, two of the three cannot be cooked. `solvable` is the same level with a fair chance.
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"level": "simple_rec_fixed", "recipes": (SALAD, FRUIT, FRUIT)},
    "solvable": {"level": "simple_rec_fixed", "recipes": (SALAD,) * 3},
    "coop": {"level": "coop_test", "recipes": (SALAD, FRUIT)},
    "easy": {"level": "two_cooks", "recipes": ("TomatoSalad",) * 2, "max_steps": 200},
}


def settings_from(variant: str, arguments: dict[str, Any]) -> Settings:
    """The variant's settings, except those in `arguments` that are not None."""
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}.")
    known = list(Changes.__annotations__)
    for name in arguments:
        if name not in known:
            raise ValueError(f"Cooking has no argument {name!r}; {hint(name, known)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    chosen = {**VARIANTS[variant], **given}
    name, meta = chosen.pop("level"), chosen.pop("meta", None)
    recipes = tuple(chosen.pop("recipes"))
    level = load_level(name)
    counts = default_meta(name, level, len(recipes)) if meta is None else load_meta(meta)
    return Settings(level=level, meta=counts, recipes=recipes, **chosen)
