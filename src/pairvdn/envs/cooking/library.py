"""The levels that come with the package, and files of the user."""

import json
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

from pairvdn.envs.cooking.catalogue import FOODS, PLACED_TILES
from pairvdn.envs.cooking.level import Level, Meta, parse_level, parse_meta

# Each level with the meta file that says what is observed of it.
LEVELS = {
    "coop_test": "example",
    "simple_rec_fixed": "meta_small_rec",
    "simple_rec_random": "meta_small_rec",
    "two_cooks": "two_cooks",
}
METAS = tuple(sorted(set(LEVELS.values())))


def load_level(name: str) -> Level:
    """A level of the package by its name, or a level file by its path, which ends in .json."""
    return parse_level(_load("level", "levels", name, tuple(LEVELS)))


def load_meta(name: str) -> Meta:
    """A meta file of the package by its name, or one of the user by its path."""
    return parse_meta(_load("meta", "metas", name, METAS))


def default_meta(name: str, level: Level, num_agents: int) -> Meta:
    """The level's own meta file, or for a level of the user room for exactly what is in it."""
    if name in LEVELS:
        return load_meta(LEVELS[name])
    placed = Counter(thing.kind for thing in (*level.statics, *level.dynamics))
    placed["Bread"] *= 2  # chopping makes two of one
    classes = ("Cutboard", "Counter", *PLACED_TILES, "Plate", *FOODS)
    counts = {**placed, "Counter": sum(level.is_counter)}
    meta = {kind: counts[kind] for kind in classes if counts.get(kind)}
    return (*meta.items(), ("Agent", num_agents))


def _load(what: str, folder: str, name: str, known: tuple[str, ...]) -> Any:
    if name in known:
        source = resources.files(__package__).joinpath(folder, f"{name}.json")
        return json.loads(source.read_text(encoding="utf-8"))
    path = Path(name)
    if path.suffix != ".json":
        raise ValueError(
            f"There is no {what} {name!r}; known are {', '.join(known)}, and paths ending in .json."
        )
    if not path.is_file():
        raise ValueError(f"There is no {what} file {name!r}.")
    return json.loads(path.read_text(encoding="utf-8"))
