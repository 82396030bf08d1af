"""Grids so small that tests can train them, and what is compared of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pairvdn.studies import Cell, Executor, News, Standing, grid_from, run_cells
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


def small_grid(**changes: Any) -> dict[str, Any]:
    """The keys of a small grid's file."""
    fields = TINY | changes.pop("fields", {})
    return {"environments": ["climbing"], "methods": ["vdn"], "fields": fields} | changes


def cells_of(**changes: Any) -> list[Cell]:
    return grid_from(small_grid(**changes)).cells()


def carried_out(
    cells: list[Cell], storage: Storage, executor: Executor, also: Callable[..., None] | None = None
) -> tuple[dict[str, Standing], list[tuple[str, News]]]:
    """How each cell stands at the end, and all that was told."""
    told: list[tuple[str, News]] = []

    def tell(name: str, news: News) -> None:
        told.append((name, news))
        if also is not None:
            also(name, news)

    return run_cells(cells, storage, executor, tell), told


def states(standings: dict[str, Standing]) -> dict[str, str]:
    return {name: one.state for name, one in standings.items()}


def metrics(storage: Storage | Path, cells: list[Cell]) -> dict[str, list[dict[str, Any]]]:
    """The lines of every run, without what depends on the clock."""
    storage = Folder(storage) if isinstance(storage, Path) else storage
    found = {}
    for run in (run for cell in cells for run in cell.runs()):
        text = storage.read_text(f"{run}/metrics.jsonl")
        assert text is not None, run
        found[run] = [json.loads(line) for line in text.splitlines()]
        for line in found[run]:
            del line["clock"]
    return found
