"""Level files: the initial kitchen, partly drawn anew for every episode.

The format is CookingZoo's JSON. Every object draws x and y independently and uniformly from two
lists until its cell is free, so its cell is uniform over the product of the lists, less taken ones.
"""

import itertools
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pairvdn.checks import whole_number
from pairvdn.envs.cooking.state import DYNAMICS, FEATURES, FOODS, PLACED_TILES

COUNTER_SIGN = "-"
# Each level with its meta file, which lists the observed objects.
LEVELS = {
    "coop_test": "example",
    "simple_rec_fixed": "meta_small_rec",
    "simple_rec_random": "meta_small_rec",
    "two_cooks": "two_cooks",
}
METAS = tuple(sorted(set(LEVELS.values())))


@dataclass(frozen=True)
class Placement:
    """One object and the cells that it may start on, possibly with repetitions."""

    kind: str
    cells: tuple[int, ...]
    chance: float = 1.0  # before every try the object is dropped with probability 1 - chance


@dataclass(frozen=True)
class Level:
    """A level file, read and checked."""

    width: int
    is_counter: tuple[bool, ...]  # per cell; the others are floor
    statics: tuple[Placement, ...]
    dynamics: tuple[Placement, ...]
    agents: tuple[Placement, ...]
    excluded: tuple[int, ...]  # cells where no dynamic object starts

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.is_counter) // self.width


Meta = tuple[tuple[str, int], ...]  # the observed classes, in order, with their largest counts


def load_level(name: str) -> Level:
    """A level of the package by name, or a level file by its path ending in .json."""
    return parse_level(_load("level", "levels", name, tuple(LEVELS)))


def load_meta(name: str) -> Meta:
    """A meta file of the package by name, or a user's by its path."""
    return parse_meta(_load("meta", "metas", name, METAS))


def default_meta(name: str, level: Level, num_agents: int) -> Meta:
    """The level's own meta file, or, for a user's level, counts that fit it exactly."""
    if name in LEVELS:
        return load_meta(LEVELS[name])
    placed = Counter(thing.kind for thing in (*level.statics, *level.dynamics))
    placed["Bread"] *= 2  # chopping makes two of one
    classes = ("Cutboard", "Counter", *PLACED_TILES, "Plate", *FOODS)
    counts = {**placed, "Counter": sum(level.is_counter)}
    meta = {kind: counts[kind] for kind in classes if counts.get(kind)}
    return (*meta.items(), ("Agent", num_agents))


def parse_level(data: Mapping[str, Any]) -> Level:
    """A level from the contents of its JSON file."""
    layout = _required(data, "LEVEL_LAYOUT", "a level")
    lines = layout.splitlines() if isinstance(layout, str) else list(layout)
    width = len(lines[-1]) if lines else 0
    if width == 0 or any(len(line) != width for line in lines):
        raise ValueError(
            f"The lines of LEVEL_LAYOUT must be non-empty and equally long, not {lines}."
        )
    size = (width, len(lines))
    agents = _required(data, "AGENTS", "a level")
    return Level(
        width=width,
        is_counter=tuple(sign == COUNTER_SIGN for line in lines for sign in line),
        statics=tuple(_placements(data, "STATIC_OBJECTS", PLACED_TILES, size)),
        dynamics=tuple(_placements(data, "DYNAMIC_OBJECTS", DYNAMICS, size)),
        agents=tuple(
            placement
            for entry in agents
            for placement in _instances("Agent", entry, "MAX_COUNT", size)
        ),
        excluded=tuple(_cell(x, y, size) for x, y in data.get("DYNAMIC_EXCLUDED_POSITIONS", [])),
    )


def parse_meta(data: Sequence[Mapping[str, int]]) -> Meta:
    """The classes to observe from the contents of a meta file, a list of {class: count}."""
    meta = tuple(item for entry in data for item in entry.items())
    for kind, count in meta:
        _known(kind, FEATURES, "A meta file")
        whole_number(f"The count of {kind}", count, 0)
    if len({kind for kind, _ in meta}) < len(meta):
        raise ValueError(f"A meta file may name each class only once, not {meta}.")
    return meta


def _placements(
    data: Mapping[str, Any], key: str, known: Collection[str], size: tuple[int, int]
) -> Iterator[Placement]:
    for entry in _required(data, key, "a level"):
        for kind, details in entry.items():
            _known(kind, known, key)
            yield from _instances(kind, details, "COUNT", size)


def _instances(
    kind: str, details: Mapping[str, Any], count_key: str, size: tuple[int, int]
) -> Iterator[Placement]:
    columns = _required(details, "X_POSITION", kind)
    rows = _required(details, "Y_POSITION", kind)
    cells = tuple(_cell(x, y, size) for x, y in itertools.product(columns, rows))
    chance = float(details.get("OPTIONAL", 1.0))
    if not cells or not 0 <= chance <= 1:
        raise ValueError(
            f"{kind} needs at least one position and an OPTIONAL from 0 to 1, not {dict(details)}."
        )
    placement = Placement(kind, cells, chance)
    yield from itertools.repeat(placement, _required(details, count_key, kind))


def _cell(x: int, y: int, size: tuple[int, int]) -> int:
    width, height = size
    if not (0 <= x < width and 0 <= y < height):
        raise ValueError(f"Position {(x, y)} is outside the level of {width} x {height} cells.")
    return y * width + x


def _required(data: Mapping[str, Any], key: str, owner: str) -> Any:
    if key not in data:
        raise ValueError(f"{key} is missing in {owner}; it has {', '.join(data)}.")
    return data[key]


def _known(kind: str, known: Collection[str], where: str) -> None:
    if kind not in known:
        raise ValueError(f"{where} may name {', '.join(known)}, not {kind!r}.")


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
