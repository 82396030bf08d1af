"""What an experiment is: rows to train, how they are evaluated, and how its table looks.

`experiments/NAME.toml` has

- `flags`: arguments of `pairvdn train` for all rows that do not say otherwise;
- `[rows]`: the arguments of each row; or `methods` and `[tasks]`, a task's arguments with METHOD
  in the place of the method, which stand for a row TASK/METHOD of each; a row of the same name
  under `[rows]` goes before it;
- `[evaluation]`: `pairvdn.experiment.evaluate.Settings`;
- `[columns]`: heads, and where their numbers are in a row of `NAME.json`; or, with tasks,
  `column`, where the one number of each row is: then a line has a method and a column a task;
- `[versus]`, if asked for: the `row` of each group (what is before a row's last slash) with which
  the others are compared, and the `path` of the number;
- `[figure]`, if it is to be drawn: the `path` of a number, and its `label`, see figures.py;
- `[references]`, with tasks: lines of known numbers, one for each task.
"""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "experiments"


def names() -> list[str]:
    """All experiments."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read(name: str) -> dict[str, Any]:
    """What the file says, with a row for each method of each task."""
    what = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    given = what.get("rows", {})
    of_tasks = {
        f"{task}/{method}": arguments.replace("METHOD", method)
        for task, arguments in what.get("tasks", {}).items()
        for method in what["methods"]
    }
    return {**what, "rows": {**of_tasks, **given}}
