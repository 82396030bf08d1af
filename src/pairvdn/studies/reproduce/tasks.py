"""What the paper trains, how much of it, and where: the runs that all its tables are made of."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.config.presets import load_preset, preset_names
from pairvdn.learning import Diverged
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import is_finished, read_config, run_folders
from pairvdn.runs.train import resume, train
from pairvdn.studies import Cell

PAPER_METHODS = ("iql", "qmix", "vdn", "pairvdn")
EXTENSIONS = ("pairvdn-sorted", "pairvdn-nearest", "pairvdn-weighted", "dcg")


@dataclasses.dataclass(frozen=True)
class Task:
    """A panel of the paper: its title, its environment's id, and the changes to the preset."""

    title: str
    environment: str
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


_TABLE1 = {"env.variant": "table1"}
TASKS: dict[str, Task] = {
    "box-jump-8-rotation": Task("Box Jump, 8 agents", "box-jump", _TABLE1 | {"env.num_boxes": 8}),
    "box-jump-16-rotation": Task(
        "Box Jump, 16 agents", "box-jump", _TABLE1 | {"env.num_boxes": 16}
    ),
    "box-jump-16-no-rotation": Task(
        "Box Jump, 16 agents, no rotation",
        "box-jump",
        _TABLE1 | {"env.num_boxes": 16, "env.fixed_rotation": True},
    ),
    "simple-spread": Task("Simple Spread, 3 agents", "simple-spread"),
    "cooking": Task("CookingZoo, 3 agents", "cooking"),
}


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much is trained and played. `note` stands on everything that is not the real thing.

    `changes` are those of every config, `per_environment` those of one environment's.
    """

    seeds: int = 5
    methods: tuple[str, ...] = PAPER_METHODS
    episodes: int = 20
    long_steps: int = 1000
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    per_environment: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.seeds <= 1000:
            raise ConfigError(f"seeds must be from 1 to 1000, not {self.seeds}.")


FULL = Scale()
# The whole path in about five minutes: every method, every number, far too little training.
QUICK = Scale(
    seeds=2,
    episodes=10,
    changes={
        "epochs": 6,
        "learner.random_steps": 800,
        "learner.replay_capacity": 4000,
        "evaluation.every": 2,
        "evaluation.episodes": 5,
    },
    note="QUICK: far too little training; this only shows that everything runs. "
    "Leave out --quick for the real thing.",
)


def available(task: str, method: str) -> bool:
    """Whether this version has the paper's preset for it."""
    return _preset(task, method) in preset_names()


def config_for(task: str, method: str, scale: Scale) -> Config:
    """The paper's hyper-parameters for a task and method, at this scale."""
    what = TASKS[task]
    special = scale.per_environment.get(what.environment, {})
    return load_preset(_preset(task, method)).replace(
        {**what.changes, "checkpoints.keep": 1, **scale.changes, **special}
    )


def _preset(task: str, method: str) -> str:
    return f"{TASKS[task].environment}/{method}-paper"


def cell_for(task: str, method: str, scale: Scale) -> Cell:
    """The same as a cell of a grid, below the folder of the reproduction."""
    return Cell(f"runs/{task}/{method}", config_for(task, method, scale), num_seeds=scale.seeds)


def ensure_trained(
    out: Path,
    task: str,
    method: str,
    scale: Scale,
    *,
    on_epoch: Callable[[Report], None],
    say: Callable[[str], None],
) -> Path:
    """The folder of the trained seeds: what is finished is kept, what was stopped goes on."""
    cell = cell_for(task, method, scale)
    folder, config = out / cell.name, cell.config
    label = f"{TASKS[task].title}, {method}, {scale.seeds} seeds"
    try:
        if not (folder / "config.toml").exists():
            say(f"training: {label}")
            train(config, folder, num_seeds=scale.seeds, on_epoch=on_epoch, say=say)
            return folder
        _require_same(folder, config, scale)
        if all(is_finished(run, config) for run in run_folders(folder)):
            say(f"finished before: {label}")
        else:
            say(f"going on: {label}")
            resume(folder, on_epoch=on_epoch, say=say)
    except Diverged as error:
        say(f"diverged: {label}: {error}")
    return folder


def _require_same(folder: Path, config: Config, scale: Scale) -> None:
    """Refuse to mix what was trained differently into one table."""
    if read_config(folder) != config or len(run_folders(folder)) != scale.seeds:
        raise FolderError(
            f"{folder} was trained with other settings or another number of seeds; "
            "choose another --out, or remove it."
        )
