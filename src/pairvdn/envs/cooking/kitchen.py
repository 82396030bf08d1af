"""The arrays of a level, made once and checked."""

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairvdn.envs.cooking.level import Level, Meta, Placement
from pairvdn.envs.cooking.state import BLENDABLE, STATICS, Tile


@dataclass(frozen=True, eq=False)
class Slots:
    """One slot for every dynamic object that may ever exist, in search order."""

    classes: tuple[str, ...]
    numbers: np.ndarray  # int32: 0, 1, ...
    is_plate: np.ndarray
    is_bread: np.ndarray
    is_blendable: np.ndarray

    @property
    def count(self) -> int:
        """The number of slots."""
        return len(self.classes)


@dataclass(frozen=True, eq=False)
class Draws:
    """Objects to be placed on cells, one after another.

    The existing objects of a class fill its slots from the first one on.
    """

    weights: np.ndarray  # float32[k, cells]: how often each cell is on the list
    total: np.ndarray  # float32[k]: length of the list, including cells that are never free
    chance: np.ndarray  # float32[k]
    first_slot: np.ndarray  # int32[k]: of the object's class
    earlier: np.ndarray  # bool[k, k]: row i marks earlier objects of i's class
    num_slots: int

    @property
    def is_fixed(self) -> bool:
        """Whether nothing is random: every object exists and has a single cell."""
        return bool((self.chance == 1).all() and ((self.weights > 0).sum(axis=1) == 1).all())


@dataclass(frozen=True, eq=False)
class Kitchen:
    """The fixed parts of a level."""

    width: int
    height: int
    layout: np.ndarray  # int32[cells]: counters and floor, before statics are placed
    slots: Slots
    static_tiles: np.ndarray  # int32[k]: the tile of each of `statics`
    statics: Draws  # into the fixtures
    dynamics: Draws  # into the slots
    agents: Draws
    fixtures: tuple[str, ...]  # class of each fixture
    meta: Meta


@functools.cache
def kitchen(level: Level, meta: Meta, num_agents: int) -> Kitchen:
    """The arrays of a level; ValueError if it cannot be played."""
    if num_agents > len(level.agents):
        raise ValueError(f"The level has room for {len(level.agents)} agents, not {num_agents}.")
    if not level.dynamics:
        raise ValueError("DYNAMIC_OBJECTS must name at least one plate or food.")
    agents = level.agents[:num_agents]
    _check_meta(level, dict(meta), num_agents)
    counter = np.array(level.is_counter)
    may_hold = counter.copy()
    may_hold[list(level.excluded)] = False
    _check_room(level.statics, np.ones_like(counter), ())
    _check_room(level.dynamics, may_hold, level.statics)
    _check_room(agents, ~counter, level.statics)
    slots = _slots(level.dynamics)
    fixtures = tuple(kind for kind, count in meta if kind in STATICS for _ in range(count))
    return Kitchen(
        width=level.width,
        height=level.height,
        layout=np.where(counter, Tile.COUNTER, Tile.FLOOR).astype(np.int32),
        slots=slots,
        static_tiles=np.array([STATICS[s.kind] for s in level.statics], np.int32),
        statics=_draws(level.statics, np.ones_like(counter), fixtures),
        dynamics=_draws(level.dynamics, may_hold, slots.classes),
        agents=_draws(agents, ~counter, ("Agent",) * num_agents),
        fixtures=fixtures,
        meta=meta,
    )


def _slots(dynamics: Sequence[Placement]) -> Slots:
    counts = Counter(thing.kind for thing in dynamics)  # in order of first appearance
    counts["Bread"] *= 2  # each can be chopped into two, once
    classes = tuple(counts.elements())
    return Slots(
        classes=classes,
        numbers=np.arange(len(classes), dtype=np.int32),
        is_plate=np.array([kind == "Plate" for kind in classes], bool),
        is_bread=np.array([kind == "Bread" for kind in classes], bool),
        is_blendable=np.array([kind in BLENDABLE for kind in classes], bool),
    )


def _draws(things: Sequence[Placement], allowed: np.ndarray, slots: tuple[str, ...]) -> Draws:
    weights = np.zeros((len(things), allowed.size), np.float32)
    for row, thing in zip(weights, things, strict=True):
        np.add.at(row, list(thing.cells), 1.0)
    total = weights.sum(axis=1)
    kinds = np.array([thing.kind for thing in things], str)
    return Draws(
        weights=weights * allowed.astype(np.float32),
        total=total,
        chance=np.array([thing.chance for thing in things], np.float32),
        first_slot=np.array([slots.index(thing.kind) for thing in things], np.int32),
        earlier=np.tril(kinds[:, None] == kinds[None, :], -1),
        num_slots=len(slots),
    )


def _check_meta(level: Level, meta: dict[str, int], num_agents: int) -> None:
    """Refuse a level with more objects than the meta file observes."""
    most = Counter(thing.kind for thing in (*level.statics, *level.dynamics))
    most["Bread"] *= 2
    most["Agent"] = num_agents
    counters = {cell for cell, is_counter in enumerate(level.is_counter) if is_counter}
    replaced = sum(
        thing.chance == 1 and counters.issuperset(thing.cells) for thing in level.statics
    )
    most["Counter"] = len(counters) - replaced
    for kind, count in most.items():
        if count > meta.get(kind, 0):
            raise ValueError(
                f"The level may have {count} of {kind}"
                f"{' (chopping makes two of one)' if kind == 'Bread' else ''}, but the meta file "
                f"has room for only {meta.get(kind, 0)}."
            )


def _check_room(
    things: Sequence[Placement], allowed: np.ndarray, before: Sequence[Placement]
) -> None:
    """Refuse a level in which an object that must exist may find all of its cells taken."""
    rivals = [set(thing.cells) for thing in before]
    for thing in things:
        places = {cell for cell in thing.cells if allowed[cell]}
        taken = sum(not places.isdisjoint(rival) for rival in rivals)
        if thing.chance == 1 and len(places) <= taken:
            raise ValueError(
                f"{thing.kind} may find no free cell: it has {len(places)}, and {taken} objects "
                "placed before it may take them."
            )
        rivals.append(places)
