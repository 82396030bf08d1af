"""Studies so small that tests can train them, and what is compared of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pairvdn.studies import Cell, Event, Executor, Status, Study, run_cells, study_from
from pairvdn.studies.storage import Folder, Storage

# One-step games and networks that compile in seconds; an epoch takes milliseconds.
TINY: dict[str, Any] = {
    "epochs": 4,
    "evaluation": {"every": 2},
    "checkpoints": {"seconds": 0},
    "learner": {
        "num_envs": 4,
        "rounds_per_epoch": 1,
        "updates_per_round": 2,
        "replay_capacity": 256,
        "batch_size": 8,
        "random_agent_steps": 2,
    },
    "method": {"hidden_sizes": [4]},
}


def small_keys(**changes: Any) -> dict[str, Any]:
    """The keys of a small study's file."""
    fields = TINY | changes.pop("fields", {})
    return {"tasks": ["climbing"], "methods": ["vdn"], "fields": fields} | changes


def small_study(name: str = "small", **changes: Any) -> Study:
    return study_from(name, small_keys(**changes))


def cells_of(**changes: Any) -> list[Cell]:
    """Cells that are trained and not evaluated."""
    return [cell for row in small_study(**changes).rows.values() for cell in row.cells()]


def ran(
    cells: list[Cell], storage: Storage, executor: Executor, also: Callable[..., None] | None = None
) -> tuple[dict[str, Status], list[tuple[str, Event]]]:
    """The final status of each cell, and all events."""
    events: list[tuple[str, Event]] = []

    def on_event(name: str, event: Event) -> None:
        events.append((name, event))
        if also is not None:
            also(name, event)

    return run_cells(cells, storage, executor, on_event), events


def states(statuses: dict[str, Status]) -> dict[str, str]:
    return {name: one.state for name, one in statuses.items()}


def metrics(storage: Storage | Path, cells: list[Cell]) -> dict[str, list[dict[str, Any]]]:
    """The lines of every run, without what depends on the clock."""
    storage = Folder(storage) if isinstance(storage, Path) else storage
    found = {}
    for run in (run for cell in cells for run in cell.runs()):
        text = storage.read_text(f"{run}/metrics.jsonl")
        assert text is not None, run
        found[run] = [json.loads(line) for line in text.splitlines()]
        for line in found[run]:
            del line["clock"], line["crc32"]
    return found


def to_toml(table: dict[str, Any], name: str = "") -> str:
    """As TOML, which can nearly be written as JSON."""
    plain = [f"{key} = {json.dumps(v)}" for key, v in table.items() if not isinstance(v, dict)]
    tables = [
        to_toml(one, f"{name}.{json.dumps(key)}".strip("."))
        for key, one in table.items()
        if isinstance(one, dict)
    ]
    return "\n".join([f"[{name}]" if name else "", *plain, *tables])
