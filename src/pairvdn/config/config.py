"""The complete description of a run as data: checked, written as TOML, and built."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn import envs
from pairvdn.acting.policy import tables
from pairvdn.checks import hint, require_at_least, require_within, shown
from pairvdn.config import builders, registry
from pairvdn.config.components import Component, checked_arguments, known_arguments
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.registry import KINDS
from pairvdn.config.schema import NOT_GIVEN, Argument, convert, fields_of, record_from
from pairvdn.config.toml import read_toml, to_toml
from pairvdn.envs import ContractError, Environment, Task, require_shapes, require_size
from pairvdn.learning import Learner
from pairvdn.types import PRNGKey
from pairvdn.values import Value
from pairvdn.values.networks import NetworkArguments


@dataclasses.dataclass(frozen=True)
class General:
    """The settings outside of any section: the length of the run and its seed.

    Attributes:
        epochs: length of the run
        seed: seed of all random numbers
    """

    epochs: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(1, epochs=self.epochs)
        require_at_least(0, seed=self.seed)
        if self.seed >= 2**32:
            raise ValueError(f"seed must be below 2**32, not {self.seed}.")


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Greedy episodes while training.

    Attributes:
        every: epochs between two evaluations
        episodes: episodes of each evaluation
    """

    every: int = 10
    episodes: int = 20

    def __post_init__(self) -> None:
        require_at_least(1, every=self.every)
        require_within(1, 100_000, episodes=self.episodes)


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """When to save the state, and how many checkpoints to keep; results do not depend on it.

    The time between two checkpoints is also at least twenty times that of saving one, since the
    replay may be large.

    Attributes:
        every: least number of epochs between two checkpoints
        seconds: least time between two checkpoints, in seconds
        keep: number of checkpoints that are kept
        keep_replay: whether a finished run keeps its replay, so that it can be extended bit for bit
    """

    every: int = 1
    seconds: float = 30.0
    keep: int = 3
    keep_replay: bool = False

    def __post_init__(self) -> None:
        require_at_least(1, every=self.every, keep=self.keep)
        require_at_least(0, seconds=self.seconds)


# Arguments of the environment that differ in training, for example an easier start. Evaluations
# always use the environment of the section `env`.
TRAINING_ENV = "training_env"
# Sections that are plain records; those in `KINDS` are chosen by name.
RECORDS: dict[str, type] = {"evaluation": Evaluation, "checkpoints": Checkpoints}
SECTIONS = (*KINDS, TRAINING_ENV, *RECORDS)


@dataclasses.dataclass(frozen=True)
class Built:
    """The objects that a config describes. Unpacks as `env, make_value, learner`."""

    env: Task
    make_value: Callable[..., Value[Any]]
    learner: Learner

    def __iter__(self) -> Any:
        return iter((self.env, self.make_value, self.learner))


@dataclasses.dataclass(frozen=True)
class Config:
    """A run: environment, method, learner, optimiser, exploration, length and seed."""

    env: Component
    method: Component
    learner: Component
    optimiser: Component
    exploration: Component
    epochs: int = 100
    seed: int = 0
    evaluation: Evaluation = dataclasses.field(default_factory=Evaluation)
    checkpoints: Checkpoints = dataclasses.field(default_factory=Checkpoints)
    training_env: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON or TOML; `from_dict` is the inverse."""
        sections = {
            kind: {"name": part.name, **part.arguments}
            for kind in KINDS
            if (part := getattr(self, kind))
        }
        records = {name: dataclasses.asdict(getattr(self, name)) for name in RECORDS}
        training_env = {TRAINING_ENV: dict(self.training_env)}
        return {"epochs": self.epochs, "seed": self.seed, **sections, **training_env, **records}

    @staticmethod
    def from_dict(given: Mapping[str, Any], *, trust: bool = True) -> "Config":
        """Check plain values; missing ones have their defaults.

        Without `trust`, names that would import an arbitrary module are refused before anything is
        imported. Use False for a config from an untrusted source.
        """
        general = {field.name for field in dataclasses.fields(General)}
        for key, value in given.items():
            if key not in general and key not in SECTIONS:
                raise ConfigError(
                    f"A config has no key {key!r}; {hint(key, {*general, *SECTIONS})}"
                )
            if key not in general and not isinstance(value, Mapping):
                raise ConfigError(f"{key} must be a table of keys, not {shown(value)}.")
        if not trust:
            registry.require_trust(given)
        parts: dict[str, Any] = {kind: _component(kind, given.get(kind, {})) for kind in KINDS}
        records: dict[str, Any] = {
            name: record_from(kind, given.get(name, {}), name) for name, kind in RECORDS.items()
        }
        top = record_from(General, {key: given[key] for key in general if key in given})
        training_env = _training_arguments(parts["env"], given.get(TRAINING_ENV, {}))
        return Config(**parts, **records, training_env=training_env, **dataclasses.asdict(top))

    def to_toml(self) -> str:
        """The text of a config file."""
        return to_toml(self.to_dict())

    @staticmethod
    def from_toml(text: str, *, trust: bool = True) -> "Config":
        """Read the text of a config file; `trust` is as in `from_dict`."""
        return Config.from_dict(read_toml(text, "The config"), trust=trust)

    def replace(self, changes: Mapping[str, Any]) -> "Config":
        """A config with changed values; keys are dotted, `{"env.num_boxes": 8, "epochs": 2}`.

        Naming another component drops the arguments of the old one; a method keeps its network
        arguments, a learner those that both schedules have.
        """
        plain = self.to_dict()
        for kind in KINDS:
            name = changes.get(f"{kind}.name", plain[kind]["name"])
            if name != plain[kind]["name"]:
                kept = kept_arguments(kind, name)
                shared = {key: value for key, value in plain[kind].items() if key in kept}
                plain[kind] = {"name": name, **shared}
                if kind == "env":
                    plain[TRAINING_ENV] = {}
        for path, value in changes.items():
            section, _, key = path.rpartition(".")
            if section and not isinstance(plain.get(section), dict):
                raise ConfigError(f"A config has no key {section!r}; {hint(section, plain)}")
            (plain[section] if section else plain)[key] = value
        return Config.from_dict(plain)

    def build_env(self) -> Task:
        """The environment of evaluations; training uses it too unless `training_env` differs."""
        return _built_env(self.env)

    def make_value(self, env: Task, *, key: PRNGKey) -> Value[Any]:
        """A new value of this method for the sizes of `env`."""
        value: Value[Any] = self.method.build(spec=env.spec, key=key)
        return value

    def require_fit(self, env: Task) -> None:
        """Trace a value once; `ConfigError` if the method does not fit this environment."""

        def trace(key: jax.Array) -> Any:
            observation = jnp.zeros((env.num_agents, env.observation_size))
            return tables(
                env, self.make_value(env, key=key), observation, jnp.zeros(env.state_size)
            )

        try:
            eqx.filter_eval_shape(trace, jax.random.PRNGKey(0))
        except ConfigError:
            raise
        except ValueError as error:
            raise ConfigError(one_line(error)) from error

    def build_learner(self, env: Task) -> Learner:
        """The learner, which trains in `env`, changed by the arguments in `training_env`."""
        learner: Learner = self.learner.build(
            env=self._environment_to_train_in(env),
            make_value=partial(self.make_value, env),
            num_epochs=self.epochs,
            optimiser=self._optimiser(),
            exploration=self.exploration.build(num_epochs=self.epochs),
        )
        return learner

    def build(self) -> Built:
        """Build the environment and the learner; `ConfigError` if method and environment misfit."""
        env = self.build_env()
        self.require_fit(env)
        return Built(env, partial(self.make_value, env), self.build_learner(env))

    def num_updates(self) -> int:
        """Gradient steps of the whole run."""
        schedule = registry.constructor("learner", self.learner.name)
        return builders.num_updates(schedule, self.epochs, self.learner.arguments)

    def _optimiser(self) -> Any:
        if not self.optimiser.asks_for("num_updates"):
            return self.optimiser.build()
        return self.optimiser.build(num_updates=self.num_updates())

    def _environment_to_train_in(self, env: Task) -> Task:
        if not self.training_env:
            return env
        arguments = {**self.env.arguments, **self.training_env}
        other = _built_env(Component("env", self.env.name, arguments))
        for size in ("num_agents", "num_actions", "observation_size", "state_size"):
            if getattr(env, size) != getattr(other, size):
                raise ConfigError(
                    f"training_env must not change {size}, but changes it from "
                    f"{getattr(env, size)} to {getattr(other, size)}."
                )
        return other


def _built_env(component: Component) -> Task:
    """The environment; that of another package must also return what it declares."""
    env: Task = component.build()
    try:
        require_size(env)
        if isinstance(env, Environment) and component.name not in envs.names():
            require_shapes(env)
    except (ValueError, ContractError) as error:
        raise ConfigError(f"env {component.name!r}: {one_line(error)}") from error
    return env


def record_arguments(name: str) -> dict[str, Argument]:
    """The keys of a plain section, `""` for those at the top."""
    return fields_of(RECORDS.get(name, General))


def _component(kind: str, given: Mapping[str, Any]) -> Component:
    arguments = dict(given)
    name = arguments.pop("name", NOT_GIVEN)
    if name is NOT_GIVEN:
        raise ConfigError(f"{kind} needs a name; known are {', '.join(KINDS[kind].names())}.")
    return Component(kind, convert(f"{kind}.name", str, name), arguments)


def kept_arguments(kind: str, name: str) -> set[str]:
    """The arguments that a component of this name inherits from the one that it replaces.

    Network arguments mean the same for all methods, and schedule arguments for all learners. The
    other arguments of a method are specific to it.
    """
    known = set(known_arguments(kind, name)) if kind in ("method", "learner") else set()
    return known & set(NetworkArguments.__annotations__) if kind == "method" else known


def _training_arguments(env: Component, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that differ in training, checked as arguments of the environment."""
    known = known_arguments("env", env.name, given)
    return checked_arguments(TRAINING_ENV, f"{TRAINING_ENV}: env {env.name!r}", known, given)
