"""The parts of a config that are chosen by name, and the registries in which the names are."""

import dataclasses
import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import optax

from pairvdn import envs, values
from pairvdn.checks import hint
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.schema import (
    NOT_GIVEN,
    PLAIN,
    Argument,
    arguments_of,
    convert,
    fields_of,
    takes_others,
)
from pairvdn.learning import Exploration, LinearEpsilon, SpreadEpsilon
from pairvdn.learning.paper import paper_learner
from pairvdn.learning.parallel import parallel_learner
from pairvdn.values.encoders import make_encoder


def adam(
    learning_rate: float = 5e-4,
    decay_from: float = 0.3,
    decay_to: float = 1.0,
    *,
    num_updates: int,
) -> optax.GradientTransformation:
    """Adam; `decay_from` is a share of the run, `decay_to` what is left of the rate at its end."""
    return optax.adam(_learning_rate(learning_rate, decay_from, decay_to, num_updates))


def sgd(
    learning_rate: float = 1e-4,
    decay_from: float = 0.3,
    decay_to: float = 1.0,
    *,
    num_updates: int,
) -> optax.GradientTransformation:
    """Plain stochastic gradient descent; the arguments are those of `adam`."""
    return optax.sgd(_learning_rate(learning_rate, decay_from, decay_to, num_updates))


def _learning_rate(rate: float, decay_from: float, decay_to: float, num_updates: int) -> Any:
    if not rate > 0:
        raise ValueError(f"learning_rate must be above 0, not {rate!r}.")
    for name, share in {"decay_from": decay_from, "decay_to": decay_to}.items():
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be from 0 to 1, not {share!r}.")
    start = int(num_updates * decay_from)
    return optax.linear_schedule(rate, rate * decay_to, max(1, num_updates - start), start)


def linear_epsilon(
    start: float = 1.0, end: float = 0.05, epochs: int | None = None, *, num_epochs: int
) -> Exploration:
    """The paper's epsilon; `epochs` none means all of them."""
    return LinearEpsilon(start, end, num_epochs if epochs is None else epochs)


def spread_epsilon(base: float = 0.4, spread: float = 6.0, *, num_epochs: int) -> Exploration:
    """A different constant epsilon in each environment."""
    return SpreadEpsilon(base, spread)


# An environment that takes its arguments as a record of numbers says here which.
_RECORDS = {"box-jump": "pairvdn.envs.box_jump.variants:Parameters"}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A section of the config: what can be named there, and what the builder is given anyway."""

    names: Callable[[], tuple[str, ...]]
    constructor: Callable[[str], Callable[..., Any]]
    provided: tuple[str, ...]
    # What keyword arguments that are handed on end up in: its signature tells their defaults.
    handed_to: Callable[..., Any] | None = None
    # Whether a name that is not among `names` may be one all the same; the constructor decides.
    may_be: Callable[[str], bool] = lambda _: False


def _listed(registry: Mapping[str, Callable[..., Any]], **rest: Any) -> Kind:
    return Kind(partial(_sorted_names, registry), registry.__getitem__, **rest)


def _sorted_names(registry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(registry))


KINDS: dict[str, Kind] = {
    "env": Kind(envs.names, envs.constructor, provided=(), may_be=envs.is_external),
    "method": Kind(
        values.names,
        values.constructor,
        provided=("spec", "key"),
        handed_to=make_encoder,
    ),
    "learner": _listed(
        {"paper": paper_learner, "parallel": parallel_learner},
        provided=("env", "make_value", "num_epochs", "optimiser", "exploration"),
    ),
    "optimiser": _listed({"adam": adam, "sgd": sgd}, provided=("num_updates",)),
    "exploration": _listed(
        {"linear": linear_epsilon, "spread": spread_epsilon}, provided=("num_epochs",)
    ),
}


@dataclasses.dataclass(frozen=True)
class Component:
    """A named part of a config with its arguments, checked when it is made."""

    kind: str
    name: str
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        known = known_arguments(self.kind, self.name, self.arguments)
        for key in self.arguments:
            if key not in known:
                raise ConfigError(
                    f"{self.kind} {self.name!r} has no argument {key!r}; {hint(key, known)}"
                )
        # What the signature says is written out: a later default does not change an old run.
        filled = {
            key: convert(f"{self.kind}.{key}", argument.kind, self.arguments.get(key, default))
            for key, argument in known.items()
            if (default := argument.default) is not NOT_GIVEN or key in self.arguments
        }
        object.__setattr__(self, "arguments", filled)

    def build(self, *positional: Any, **provided: Any) -> Any:
        """Call the constructor; what it finds out of range is a `ConfigError`."""
        try:
            return KINDS[self.kind].constructor(self.name)(
                *positional, **provided, **self.arguments
            )
        except (ValueError, ImportError) as error:
            raise ConfigError(f"{self.kind}: {one_line(error)}") from error


def known_arguments(kind: str, name: str, others: Iterable[str] = ()) -> dict[str, Argument]:
    """The arguments that a config may give to what is called `name`.

    `others` are keys that count too if the constructor leaves open which arguments there are.
    """
    section = KINDS[kind]
    if name not in section.names() and not section.may_be(name):
        raise ConfigError(f"There is no {kind} {name!r}; {hint(name, section.names())}")
    try:
        build = section.constructor(name)
    except (ValueError, ImportError) as error:
        raise ConfigError(one_line(error)) from error
    known = arguments_of(build, section.provided, section.handed_to)
    if takes_others(build):
        known = {key: Argument(key, PLAIN) for key in others} | known
    if kind == "env" and name in _RECORDS:
        module, _, attribute = _RECORDS[name].partition(":")
        known |= fields_of(getattr(importlib.import_module(module), attribute))
    return known
