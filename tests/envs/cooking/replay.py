"""Recorded episodes of the original: a kitchen that starts as one of them did."""

from collections.abc import Mapping
from typing import Any

from pairvdn.envs.cooking import Cooking
from pairvdn.envs.cooking.level import parse_level, parse_meta
from pairvdn.envs.cooking.settings import Settings
from pairvdn.envs.cooking.state import STATICS


def from_layout(entry: Mapping[str, Any]) -> Cooking:
    """The environment whose reset is the layout of one entry of a trace manifest.

    Every reset is the same, whatever the key. Switches and blocks are refused.
    """
    things = [kind for kind, _ in entry["dynamic"]][: len(entry["dyn0"])]
    order = entry["class_order"]
    starts = sorted(
        zip(things, entry["dyn0"], strict=True), key=lambda thing: order.index(thing[0])
    )
    if any(facing != 1 for _, _, facing in entry["agents0"]):
        raise ValueError(f"Agents start facing left (1); got {entry['agents0']}.")
    drawn = {(x, y) for kind, x, y in entry["static"] if kind in STATICS}
    level = {
        "LEVEL_LAYOUT": [
            "".join("-" if (x, y) in drawn else " " for x in range(entry["width"]))
            for y in range(entry["height"])
        ],
        "STATIC_OBJECTS": [
            {kind: _at(x, y)} for kind, x, y in entry["static"] if kind != "Counter"
        ],
        "DYNAMIC_OBJECTS": [{kind: _at(x, y)} for kind, (x, y) in starts],
        "AGENTS": [_at(x, y) for x, y, _ in entry["agents0"]],
    }
    return Cooking(
        Settings(
            level=parse_level(level),
            meta=parse_meta([entry["meta_counts"]]),
            recipes=tuple(entry["recipes"]),
            max_steps=entry["max_steps"],
            end_all=entry["end_all"],
            **entry["rs"],
        )
    )


def _at(x: int, y: int) -> dict[str, Any]:
    return {"COUNT": 1, "MAX_COUNT": 1, "X_POSITION": [x], "Y_POSITION": [y]}
