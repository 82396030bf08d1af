"""The paper's table 1 beside ours: Box Jump, 16 boxes, score after 400 and 1000 steps."""

import csv
import io
import json
import tomllib
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from pairvdn import studies as grid
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.checkpoint import write_text
from pairvdn.runs.epochs import Report
from pairvdn.studies.reproduce.tasks import Scale, cell_for, ensure_trained

ROTATIONS = {"rotation": "box-jump-16-rotation", "no-rotation": "box-jump-16-no-rotation"}


class Cell(NamedTuple):
    """One number of the table: the paper's mean and sd, and our summary over training seeds."""

    method: str
    rotation: str
    steps: int
    paper: tuple[float, float] | None
    ours: dict[str, Any]
    interval_over: str
    seeds: int
    diverged: int


def table1_cells(scale: Scale) -> list[grid.Cell]:
    """What the table needs, to be trained beforehand and elsewhere."""
    return [
        cell_for(task, method, scale) for task in ROTATIONS.values() for method in scale.methods
    ]


def table1(
    out: Path, scale: Scale, *, on_epoch: Callable[[Report], None], say: Callable[[str], None]
) -> list[Cell]:
    """Train what is missing, evaluate it, and write `table1.md`, `.csv` and `.json`.

    With the preset `table1` neither the observation nor the reward knows how long an episode
    lasts, so the score after 400 steps is that of the first 400 of 1000.
    """
    settings = Settings(episodes=scale.episodes, max_steps=scale.long_steps)
    cells: list[Cell] = []
    for rotation, task in ROTATIONS.items():
        for method in scale.methods:
            folder = ensure_trained(out, task, method, scale, on_epoch=on_epoch, say=say)
            evaluated = evaluate(folder, settings).to_dict()
            if method == scale.methods[0]:
                cells += _cells("random", rotation, evaluated, evaluated["extra"]["random"])
            cells += _cells(method, rotation, evaluated, evaluated["extra"])
    write_text(out / "table1.md", to_markdown(cells, scale))
    write_text(out / "table1.csv", to_csv(cells))
    as_json = {"note": scale.note, "cells": [cell._asdict() for cell in cells]}
    write_text(out / "table1.json", json.dumps(as_json, indent=2) + "\n")
    return cells


def papers_numbers() -> dict[str, Any]:
    """What the paper reports; see paper.toml."""
    text = (resources.files(__package__) / "paper.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _cells(
    method: str, rotation: str, evaluated: dict[str, Any], extra: dict[str, Any]
) -> list[Cell]:
    paper = papers_numbers()["table1"].get(method, {}).get(rotation, {})
    random = method == "random"
    return [
        Cell(
            method=method,
            rotation=rotation,
            steps=int(steps),
            paper=tuple(paper[steps]) if steps in paper else None,
            ours=ours,
            interval_over="episodes" if random else evaluated["interval_over"],
            seeds=0 if random else evaluated["extra"]["seeds"],
            diverged=0 if random else evaluated["extra"]["diverged"],
        )
        for steps, ours in extra["measures"]["return"].items()
    ]


def to_markdown(cells: Sequence[Cell], scale: Scale) -> str:
    """Methods as rows; in each cell the paper's mean ± sd, then ours with its interval."""
    columns = list(dict.fromkeys((cell.rotation, cell.steps) for cell in cells))
    methods = list(dict.fromkeys(cell.method for cell in cells))
    known = {(cell.method, cell.rotation, cell.steps): cell for cell in cells}
    lines = ["# Table 1: Box Jump, 16 boxes, mean score", ""]
    if scale.note:
        lines += [f"**{scale.note}**", ""]
    heads = [f"{rotation}, t={steps}: {who}" for rotation, steps in columns for who in _WHO]
    lines += [f"| | {' | '.join(heads)} | diverged |", "|---" * (len(heads) + 2) + "|"]
    for method in methods:
        mine = [known[method, rotation, steps] for rotation, steps in columns]
        lost = {cell.rotation: cell for cell in mine}.values()
        diverged = f"{sum(c.diverged for c in lost)} of {sum(c.seeds for c in lost)}"
        texts = [text for cell in mine for text in (_paper(cell), _ours(cell))]
        lines.append(f"| {method} | {' | '.join(texts)} | {diverged} |")
    over = sorted({cell.interval_over for cell in cells if cell.seeds})
    lines += [
        "",
        "A score is 1 + h / 15, h the best height in boxes. Paper: mean ± sd over 20 episodes of "
        f"one training seed. Ours: mean [95 % bootstrap interval over {' or '.join(over)}] of "
        f"{scale.seeds} training seed(s), {scale.episodes} greedy episodes each, last checkpoint; "
        "random: 30 episodes, the interval over episodes. Runs that diverged count with the "
        "parameters from before.",
    ]
    return "\n".join(lines) + "\n"


_WHO = ("paper", "ours")


def _paper(cell: Cell) -> str:
    return "–" if cell.paper is None else f"{cell.paper[0]:.3f} ± {cell.paper[1]:.3f}"


def _ours(cell: Cell) -> str:
    mean, low, high = (cell.ours[key] for key in ("mean", "low", "high"))
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{mean:.3f}{interval}"


def to_csv(cells: Sequence[Cell]) -> str:
    """One line per cell, for spreadsheets."""
    text = io.StringIO()
    rows = [_flat(cell) for cell in cells]
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(cell: Cell) -> dict[str, Any]:
    paper_mean, paper_sd = cell.paper or (None, None)
    return {
        "method": cell.method,
        "rotation": cell.rotation,
        "steps": cell.steps,
        "paper_mean": paper_mean,
        "paper_sd": paper_sd,
        **{key: cell.ours[key] for key in ("mean", "sd", "low", "high")},
        "interval_over": cell.interval_over,
        "seeds": cell.seeds,
        "diverged": cell.diverged,
    }
