"""Train and evaluate the rows of an experiment and write its numbers as JSON.

python results/make.py box-jump [--only ROW ...] [--no-training] [--runs FOLDER]
"""

import argparse
import json
import math
import shlex
import sys
from pathlib import Path
from typing import Any

import experiment

from pairvdn.cli import main as pairvdn
from pairvdn.cli.flags import Parser, changed
from pairvdn.cli.train import preset_config
from pairvdn.config import Config
from pairvdn.runs.analysis.curves import learning_curve
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.folder import (
    is_finished,
    read_config,
    read_metrics,
    run_folders,
    seeds_of,
)


def command(what: dict[str, Any], row: str) -> list[str]:
    """The arguments of `pairvdn train` for a row, without its folder; its own go last and win."""
    preset, *own = shlex.split(what["rows"][row])
    return [preset, *shlex.split(what.get("flags", "")), *own]


def asked(what: dict[str, Any], row: str) -> tuple[Config, list[int] | None]:
    """The config and the seeds that the arguments of a row stand for."""
    arguments = command(what, row)
    parser = Parser("train", "")
    parser.add_argument("preset")
    parser.add_argument("--seeds", type=int)
    config = preset_config(parser, arguments)
    given = parser.parse_all(arguments)
    config = changed(config, given)
    return config, given.seeds and [config.seed + number for number in range(given.seeds)]


def require_as_asked(what: dict[str, Any], row: str, folder: Path) -> None:
    """Refuse a run of other settings: its numbers would stand beside a command that is not its."""
    if not (folder / "config.toml").exists():
        return
    found, seeds = read_config(folder).to_dict(), seeds_of(folder)
    config, expected = asked(what, row)
    plain = config.to_dict()
    # Checkpoints change no results.
    other = [key for key in plain if key != "checkpoints" and plain[key] != found[key]]
    other += ["seeds"] if seeds != expected else []
    if other:
        sys.exit(
            f"{folder} was trained with other settings ({', '.join(other)}) than row {row} asks "
            "for now; move it away, or give another folder with --runs."
        )


def train(what: dict[str, Any], row: str, folder: Path) -> None:
    """Start the row, or go on with it."""
    if (folder / "config.toml").exists():
        code = pairvdn(["resume", str(folder)])
    else:
        code = pairvdn(["train", *command(what, row), "--out", str(folder)])
    if code:
        raise SystemExit(code)


def numbers(what: dict[str, Any], row: str, folder: Path) -> dict[str, Any]:
    """What the last checkpoints of all seeds of a row do, and what they cost."""
    evaluated = evaluate(folder, Settings(**what["evaluation"])).to_dict()
    runs = run_folders(folder)
    last = [read_metrics(run)[-1] for run in runs]
    versions = json.loads((runs[0] / "versions.json").read_text(encoding="utf-8"))
    extra = evaluated["extra"]
    return {
        "command": shlex.join(["pairvdn", "train", *command(what, row)]),
        "commit": versions["commit"],
        "seeds": extra["seeds"],
        "diverged": extra["diverged"],
        "epochs": extra["epochs"],
        "return": evaluated["return"],
        "measures": extra["measures"],
        "shares": extra["shares"],
        "random": {
            "return": _short(evaluated["random"]),
            "measures": {
                name: {moment: _short(one) for moment, one in moments.items()}
                for name, moments in extra["random"]["measures"].items()
            },
        },
        "curve": _curve(folder),
        # Of all seeds together, which were trained side by side.
        "cost": {
            "seconds": math.ceil(max(line["clock"]["seconds"] for line in last)),
            "env_steps": sum(line["env_steps"] for line in last),
            "updates": sum(line["updates"] for line in last),
        },
    }


def _curve(folder: Path) -> dict[str, list[float]]:
    """Greedy returns while training, mean and interval over seeds."""
    found = learning_curve([folder])._asdict()
    del found["seeds"]
    return {name: [round(float(one), 4) for one in line] for name, line in found.items()}


def _short(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    """A summary without the values of all episodes."""
    return summary and {key: value for key, value in summary.items() if key != "values"}


def finished(folder: Path) -> bool:
    """Whether all seeds of a row have been trained to their last epoch."""
    if not (folder / "config.toml").exists():
        return False
    config = read_config(folder)
    return all(is_finished(run, config) for run in run_folders(folder))


def write(name: str, what: dict[str, Any], row: str, folder: Path) -> None:
    """Put the numbers of a row that is trained to its end into the JSON, beside what it has."""
    if not finished(folder):
        return
    new = numbers(what, row, folder)
    # Read late: rows made meanwhile by another process are not lost.
    rows = (experiment.rows(name) if experiment.made(name) else {}) | {row: new}
    rows = {row: rows[row] for row in what["rows"] if row in rows}
    result = {"evaluation": what["evaluation"], "rows": rows}
    (experiment.HERE / f"{name}.json").write_text(
        json.dumps(result, indent=1) + "\n", encoding="utf-8"
    )


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=experiment.names())
    parser.add_argument("--only", nargs="+", metavar="ROW", help="these rows and no others")
    parser.add_argument("--no-training", action="store_true", help="evaluate what is there")
    parser.add_argument("--runs", type=Path, default=Path("runs/results"))
    given = parser.parse_args()
    what = experiment.read(given.name)
    rows = given.only or list(what["rows"])
    if unknown := set(rows) - set(what["rows"]):
        sys.exit(f"no row {', '.join(unknown)}; there are {', '.join(what['rows'])}.")
    runs = given.runs / given.name
    for row in rows:
        require_as_asked(what, row, runs / row)
    for row in rows:
        if not given.no_training:
            train(what, row, runs / row)
        write(given.name, what, row, runs / row)


if __name__ == "__main__":
    main()
