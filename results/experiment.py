"""What an experiment is: rows to train, how they are evaluated, and how its table looks.

`experiments/NAME.toml` has

- `flags`: arguments of `pairvdn train` for all rows that do not say otherwise;
- `[rows]`: the arguments of each row; or `methods` and `[tasks]`, a task's arguments with METHOD
  in the place of the method, which stand for a row TASK/METHOD of each; a row of the same name
  under `[rows]` goes before it;
- `[evaluation]`: `pairvdn.runs.analysis.evaluate.Settings`;
- `[columns]`: heads, and where their numbers are in a row of `NAME.json`; or, with tasks,
  `column`, where the one number of each row is: then a line has a method and a column a task;
- `[versus]`, if asked for: the `row` of each group (what is before a row's last slash) with which
  the others are compared, and the `path` of the number;
- `[figure]`, if it is to be drawn: the `path` of a number, and its `label`, see figures.py; with
  `groups` of these alone;
- `[curves]`, if learning curves are to be drawn: of which `groups` and `methods`, if not all,
  and the path of what the `random` policy reaches in as many steps as they are evaluated with;
- `[references]`, with tasks: lines of known numbers, one for each task.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE / "experiments"


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


def made(name: str) -> bool:
    """Whether make.py has written its numbers."""
    return (HERE / f"{name}.json").exists()


def rows(name: str) -> dict[str, Any]:
    """The numbers of every row that was trained."""
    found: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return found


def at(row: dict[str, Any], path: str) -> Any:
    """What is at a path of a row, `measures.best_height.1000` say, or None."""
    found: Any = row
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def group(row: str) -> str:
    """What is before the last slash of a row's name; nothing if there is none."""
    return row.rpartition("/")[0]
