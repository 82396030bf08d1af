"""The table `[tune]` of a study: the trials that every row gets, their budget and their seeds."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pairvdn.checks import hint, require_above, require_at_least, require_within, shown
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import fields_of
from pairvdn.studies.records import record_from, require_keys, table_of

# Distribution -> a number in its range, from a uniform draw in [0, 1).
RANGES: Mapping[str, Callable[[Any, Any, float], Any]] = {
    "uniform": lambda low, high, draw: low + (high - low) * draw,
    "log": lambda low, high, draw: low * (high / low) ** draw,
    "integers": lambda low, high, draw: low + int((high + 1 - low) * draw),
}
# Far from the seeds of rows, which count from 0.
FIRST_SEED = 10_000
MOST_TRIALS, MOST_SEEDS = 10_000, 1_000
_ATTEMPTS = 1_000  # to draw trials of which no two are alike
# Fields that all trials of a row must share: the task and the budget.
_FIXED = ("epochs", "seed", "env", "evaluation", "checkpoints")


@dataclasses.dataclass(frozen=True)
class Draw:
    """The values of a field: a list (`how` is "list"), or a range to draw from."""

    how: str
    values: tuple[Any, ...]

    def at(self, draw: float) -> Any:
        """The value for a uniform draw in [0, 1)."""
        if self.how == "list":
            return self.values[int(len(self.values) * draw)]
        low, high = self.values
        return RANGES[self.how](low, high, draw)


@dataclasses.dataclass(frozen=True)
class EarlyStopping:
    """After `grace`, `grace * reduction`, ... epochs about one trial in `reduction` continues."""

    grace: int = 1
    reduction: int = 3

    def __post_init__(self) -> None:
        require_at_least(1, grace=self.grace)
        require_at_least(2, reduction=self.reduction)


@dataclasses.dataclass(frozen=True)
class Search:
    """The trials of `[tune]`: every row is trained with the same ones.

    A trial is a value for each field of `space`. There are `samples` of them, drawn with `seed`, or
    without `samples` all combinations of the lists. A trial has the share `budget` of the epochs of
    its row, and the `seeds`, which no row has.
    """

    space: Mapping[str, Draw]
    samples: int | None = None
    seed: int = 0
    budget: float = 0.25
    seeds: tuple[int, ...] = (FIRST_SEED, FIRST_SEED + 1)
    early_stopping: EarlyStopping | None = None

    def __post_init__(self) -> None:
        require_at_least(0, seed=self.seed)
        require_above(0, budget=self.budget)
        require_within(0, 1, budget=self.budget)
        first = self.seeds[0]
        if self.seeds != tuple(range(first, first + len(self.seeds))):
            raise ValueError("seeds must be consecutive: they are trained side by side.")
        if self.samples is not None:
            require_within(1, MOST_TRIALS, samples=self.samples)
        elif self._has_ranges():
            raise ValueError("samples is needed, because the space has a range.")
        elif self._combinations() > MOST_TRIALS:
            raise ValueError(f"samples is needed: there are {self._combinations():,} combinations.")

    def _has_ranges(self) -> bool:
        return any(draw.how != "list" for draw in self.space.values())

    def _combinations(self) -> int:
        return math.prod(len(draw.values) for draw in self.space.values())

    def trials(self) -> list[dict[str, Any]]:
        """The fields of every trial; the same for every row and on every machine.

        Samples are a Latin hypercube: each value of a list, and each part of a range, is drawn as
        often as any other.
        """
        rng = np.random.default_rng(self.seed)
        if self._has_ranges():
            return self._hypercube(rng)
        if self.samples is not None and self.samples < self._combinations():
            for _ in range(_ATTEMPTS):
                some = self._hypercube(rng)
                if all(trial not in some[:index] for index, trial in enumerate(some)):
                    return some
        every = [
            dict(zip(self.space, values, strict=True))
            for values in itertools.product(*(draw.values for draw in self.space.values()))
        ]
        return [every[index] for index in sorted(rng.permutation(len(every))[: self.samples])]

    def _hypercube(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        assert self.samples is not None
        draws = {
            field: (rng.permutation(self.samples) + rng.random(self.samples)) / self.samples
            for field in self.space
        }
        return [
            {field: draw.at(float(draws[field][index])) for field, draw in self.space.items()}
            for index in range(self.samples)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The protocol as plain data; rows of two protocols are never compared."""
        early = self.early_stopping and dataclasses.asdict(self.early_stopping)
        plain = {"trials": self.trials(), "budget": self.budget, "seeds": list(self.seeds)}
        return plain | ({"early_stopping": early} if early else {})

    def with_whole_budget(self) -> "Search":
        """The same trials, as long as their rows."""
        return dataclasses.replace(self, budget=1.0)

    def epochs(self, full: int) -> int:
        """The epochs of a trial, given those of its row."""
        return max(1, math.ceil(self.budget * full))


def read_search(key: str, value: Any) -> Search:
    """The search that the table `[tune]` describes."""
    given = dict(table_of(key, value))
    require_keys(key, given, fields_of(Search))
    space = given.pop("space", {})
    if not isinstance(space, Mapping) or not space:
        raise ConfigError(f"{key}.space must be a table of fields, each with its values.")
    early = given.pop("early_stopping", None)
    if isinstance(seeds := given.get("seeds"), int) and not isinstance(seeds, bool):
        given["seeds"] = list(range(FIRST_SEED, FIRST_SEED + seeds)) if seeds <= MOST_SEEDS else []
    if given.get("seeds") == []:
        raise ConfigError(f"{key}.seeds must be a list, or a number from 1 to {MOST_SEEDS}.")
    search = record_from(key, Search, given | {"space": dict(_draws(f"{key}.space", space))})
    if early is None:
        return search
    stopping = record_from(f"{key}.early_stopping", EarlyStopping, early)
    return dataclasses.replace(search, early_stopping=stopping)


def fields_text(fields: Mapping[str, Any]) -> str:
    """Fields for people: `learner.loss = squared, learner.n_step = 1`."""
    return ", ".join(f"{field} = {value}" for field, value in fields.items())


def _draws(where: str, space: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, Draw]]:
    """Fields with their values; a table without a dot in its name is a section of the config."""
    for key, value in space.items():
        field = f"{section}.{key}" if section else key
        if isinstance(value, Mapping) and "." not in field and field not in _FIXED:
            yield from _draws(where, value, field)
        elif field.partition(".")[0] in _FIXED:
            raise ConfigError(f"{where}.{field} cannot be tuned: all trials of a row share it.")
        else:
            yield field, _draw(f"{where}.{field}", field, value)


def _draw(where: str, field: str, value: Any) -> Draw:
    if isinstance(value, list) and value:
        return Draw("list", tuple(value))
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ConfigError(f"{where} must be a list of values or one range; {_example(field)}")
    ((how, values),) = value.items()
    if how not in RANGES:
        raise ConfigError(f"{where} has no range {how!r}; {hint(how, RANGES)}")
    kinds = int if how == "integers" else (int, float)
    if (
        not isinstance(values, list)
        or len(values) != 2
        or any(not isinstance(one, kinds) or isinstance(one, bool) for one in values)
        or not values[0] < values[1]
        or (how == "log" and values[0] <= 0)
    ):
        needed = {"integers": "two whole numbers", "log": "two numbers above 0"}
        numbers = needed.get(how, "two numbers")
        raise ConfigError(f"{where}.{how} must be {numbers}, from and to, not {shown(values)}.")
    return Draw(how, tuple(values))


def _example(field: str) -> str:
    return f"for example {field} = [1, 2], or {field} = {{ log = [1e-4, 1e-2] }}."
