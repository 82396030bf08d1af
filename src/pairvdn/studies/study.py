"""A study: the rows to train, their evaluation, and the table and figures of the results."""

import dataclasses
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pairvdn.checks import hint, require_at_least
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.config.presets import load_preset
from pairvdn.config.registry import KINDS
from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.train import MOST_SEEDS
from pairvdn.studies.cells import Cell, Resources
from pairvdn.studies.search import Search


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of a table: a preset, changed fields, and the seeds it is trained with.

    Its name is `GROUP/LABEL`: rows of one group are compared with each other. Its folder is an
    ordinary folder of several seeds, `NAME/seed-K`.
    """

    name: str
    preset: str
    fields: Mapping[str, Any]
    seeds: tuple[int, ...]
    side_by_side: bool

    @property
    def group(self) -> str:
        """The name up to its last slash; empty if there is none."""
        return self.name.rpartition("/")[0]

    @property
    def label(self) -> str:
        """The name after its last slash."""
        return self.name.rpartition("/")[2]

    def names(self) -> dict[str, dict[str, Any]]:
        """The names of classes in the config, by section; nothing is imported."""
        env, _, method = self.preset.partition("/")
        names = {"env.name": env, "method.name": method, **self.fields}
        return {kind: {"name": names.get(f"{kind}.name")} for kind in KINDS}

    def config(self) -> Config:
        """The config of the first seed; `ConfigError` if a field does not exist."""
        return load_preset(self.preset).replace({**self.fields, "seed": self.seeds[0]})

    def cells(self, evaluation: Settings | None = None) -> list[Cell]:
        """One cell with all seeds side by side, or one cell per seed."""
        config = self.config()
        if self.side_by_side:
            return [Cell(self.name, config, len(self.seeds), evaluation)]
        return [
            Cell(
                f"{self.name}/seed-{seed}", dataclasses.replace(config, seed=seed), None, evaluation
            )
            for seed in self.seeds
        ]

    def command(self) -> str:
        """The command that trains the same run or runs."""
        words = ["pairvdn", "train", self.preset]
        for field, value in self.fields.items():
            words += [f"--{field.replace('_', '-')}", _flag_value(value)]
        if self.side_by_side:
            first = ["--seed", str(self.seeds[0])] if self.seeds[0] else []
            return shlex.join([*words, "--seeds", str(len(self.seeds)), *first])
        return " && ".join(shlex.join([*words, "--seed", str(seed)]) for seed in self.seeds)


def _flag_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


@dataclasses.dataclass(frozen=True)
class Reference:
    """Known numbers and their source.

    `values` are a number per task, or a table per row: column -> a number, or [mean, sd].
    """

    source: str
    values: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Versus:
    """The row of each group to compare the others with, and the path of the compared number."""

    row: str
    path: str


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement that the number at `path` is greater in `row` than in `than`.

    With `minus`, the number at that path is subtracted in each seed: a gain. `statistic` is the
    mean over seeds, or their standard deviation.
    """

    row: str
    than: str
    path: str
    minus: str = ""
    statistic: Literal["mean", "sd"] = "mean"


@dataclasses.dataclass(frozen=True)
class Aggregation:
    """How numbers of different tasks become comparable scores, 0 to 1.

    `zero` and `one` are references with a number for each task. A task that `zero` leaves out
    starts at the random policy. `versus` is the method to compare the others with; empty `tasks`
    means all.
    """

    zero: str
    one: str
    versus: str
    path: str = "return"
    tasks: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Bars:
    """One number of each row as a bar, a panel for each group; empty `groups` means all."""

    path: str
    label: str
    groups: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Curves:
    """Greedy returns during training, a panel for each group.

    `random` is the path of the random policy's number at the length of these evaluations.
    """

    random: str = "return"
    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Episodes:
    """Pictures of greedy episodes of trained rows after `steps`, for the first `seeds` seeds."""

    rows: tuple[str, ...]
    steps: tuple[int, ...]
    seeds: int = 1

    def __post_init__(self) -> None:
        require_at_least(1, seeds=self.seeds, **{"number of steps": len(self.steps)})


@dataclasses.dataclass(frozen=True)
class RandomPlay:
    """Pictures of environments after `step` steps of the random policy; title -> arguments.

    `colour_by` makes one picture for each of these observations, with agents from red at 0 to
    black at 1.
    """

    envs: Mapping[str, Mapping[str, Any]]
    step: int = 100
    colour_by: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Overview:
    """All methods over all tasks of `[aggregate]`: which method should I use?"""


Figure = Bars | Curves | Episodes | RandomPlay | Overview
FIGURES: dict[str, type[Figure]] = {
    "aggregate": Overview,
    "bars": Bars,
    "curves": Curves,
    "episodes": Episodes,
    "random-play": RandomPlay,
}


@dataclasses.dataclass(frozen=True)
class Study:
    """The checked contents of a study's file.

    Its table has a line per row and `columns` (head -> path of a number in the raw results); with
    `column` it has a line per method and a column per task instead. `changed` holds the changes
    of the command line, which label the results.
    """

    name: str
    rows: Mapping[str, Row]
    about: str = ""
    evaluation: Settings = dataclasses.field(default_factory=Settings)
    columns: Mapping[str, str] = dataclasses.field(default_factory=lambda: {"return": "return"})
    column: str | None = None
    tasks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    references: Mapping[str, Reference] = dataclasses.field(default_factory=dict)
    versus: Versus | None = None
    claims: Mapping[str, Claim] = dataclasses.field(default_factory=dict)
    aggregate: Aggregation | None = None
    figures: Mapping[str, Figure] = dataclasses.field(default_factory=dict)
    resources: Resources = dataclasses.field(default_factory=Resources)
    tune: Search | None = None
    changed: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def only(self, names: Iterable[str]) -> list[Row]:
        """The rows with these names, or of these groups; all rows if no name is given."""
        names = list(names)
        groups = {row.group for row in self.rows.values() if row.group}
        for name in names:
            if name not in self.rows and name not in groups:
                raise ConfigError(
                    f"{self.name} has no row {name!r}; {hint(name, [*self.rows, *groups])}"
                )
        return [
            row
            for row in self.rows.values()
            if not names or row.name in names or row.group in names
        ]

    def with_changes(
        self,
        fields: Mapping[str, Any] | None = None,
        seeds: int | None = None,
        evaluation: Mapping[str, Any] | None = None,
    ) -> "Study":
        """The study with other fields, number of seeds or evaluation, for example a quick one."""
        changed = {
            **(fields or {}),
            **({} if seeds is None else {"seeds": seeds}),
            **{f"[evaluation] {key}": value for key, value in (evaluation or {}).items()},
        }
        if not changed:
            return self
        if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
            raise ConfigError(f"seeds must be from 1 to {MOST_SEEDS}, not {seeds}.")
        rows = {
            name: dataclasses.replace(
                row,
                fields={**row.fields, **(fields or {})},
                seeds=row.seeds
                if seeds is None
                else tuple(range(row.seeds[0], row.seeds[0] + seeds)),
            )
            for name, row in self.rows.items()
        }
        for row in rows.values():
            row.config()
        return dataclasses.replace(
            self,
            rows=rows,
            evaluation=dataclasses.replace(self.evaluation, **(evaluation or {})),
            changed=changed,
        )
