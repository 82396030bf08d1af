"""Level files: the start of a kitchen, and which of it is drawn anew for every episode.

The format is CookingZoo's JSON. Every thing draws x and y independently and evenly from two lists
until its place is free, so its place is drawn from the product of the lists, less what is taken.
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
# Each level with the meta file that says what is observed of it.
LEVELS = {
    "coop_test": "example",
    "simple_rec_fixed": "meta_small_rec",
    "simple_rec_random": "meta_small_rec",
    "two_cooks": "two_cooks",
}
METAS = tuple(sorted(set(LEVELS.values())))


@dataclass(frozen=True)
class Placement:
    """One thing and the cells that it may start on; a cell may stand there more than once."""

    kind: str
    cells: tuple[int, ...]
    chance: float = 1.0  # below 1: before every try the thing is dropped with 1 - chance


@dataclass(frozen=True)
class Level:
    """A level file, read and checked."""

    width: int
    is_counter: tuple[bool, ...]  # per cell; the others are floor
    statics: tuple[Placement, ...]
    dynamics: tuple[Placement, ...]
    agents: tuple[Placement, ...]
    excluded: tuple[int, ...]  # cells where no dynamic thing starts

    @property
    def height(self) -> int:
        """How many rows of cells there are."""
        return len(self.is_counter) // self.width


Meta = tuple[tuple[str, int], ...]  # which classes are observed, in this order, how many at most


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


def parse_level(data: Mapping[str, Any]) -> Level:
    """A level from the contents of its JSON file."""
    layout = _required(data, "LEVEL_LAYOUT", "a level")
    lines = layout.splitlines() if isinstance(layout, str) else list(layout)
    width = len(lines[-1]) if lines else 0
    if width == 0 or any(len(line) != width for line in lines):
        raise ValueError(
            f"The lines of LEVEL_LAYOUT must be of one length, and not empty; they are {lines}."
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
        raise ValueError(f"A meta file may name a class only once; it names {meta}.")
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
            f"{kind} needs at least one position and an OPTIONAL from 0 to 1; got {dict(details)}."
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
