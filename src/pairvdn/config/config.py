"""The whole description of a run, as data: checked, written as TOML, and built into a learner."""

import dataclasses
import functools
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn.acting.policy import tables
from pairvdn.checks import hint, require_at_least
from pairvdn.config.components import KINDS, Component, known_arguments
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.schema import NOT_GIVEN, Argument, convert, fields_of
from pairvdn.config.toml import to_toml
from pairvdn.envs import Task
from pairvdn.learning import Learner
from pairvdn.values import Value
from pairvdn.values.networks import NetworkArguments


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Greedy episodes while training: how often (in epochs), and how many."""

    every: int = 10
    episodes: int = 20

    def __post_init__(self) -> None:
        require_at_least(1, every=self.every, episodes=self.episodes)


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """When the state is saved, and how many saved states are kept.

    At least `every` epochs and `seconds` lie between two, and twenty times as long as saving took:
    the replay may be large, and saving should cost little. None of this changes a run's results.
    """

    every: int = 1
    seconds: float = 30.0
    keep: int = 3

    def __post_init__(self) -> None:
        require_at_least(1, every=self.every, keep=self.keep)
        require_at_least(0, seconds=self.seconds)


@dataclasses.dataclass(frozen=True)
class General:
    """What belongs to no section: the length of the run and where its random numbers start."""

    epochs: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(1, epochs=self.epochs)
        require_at_least(0, seed=self.seed)
        if self.seed >= 2**32:
            raise ValueError(f"seed must be below 2**32, not {self.seed}.")


# Arguments of the environment that are different while training, an easier start say. What is
# learned is always evaluated in the environment of the section `env`.
TRAINING_ENV = "training_env"
# Sections that are plain records; those of `KINDS` are chosen by name.
RECORDS: dict[str, type] = {"evaluation": Evaluation, "checkpoints": Checkpoints}


def _kept_arguments(kind: str, name: str) -> set[str]:
    """What another component of this kind keeps of the one that it takes the place of.

    Networks of all methods, and schedules of all learners, have arguments that mean the same; what
    a method does with its networks is its own.
    """
    known = set(known_arguments(kind, name)) if kind in ("method", "learner") else set()
    return known & set(NetworkArguments.__annotations__) if kind == "method" else known


@dataclasses.dataclass(frozen=True)
class Built:
    """What a config describes. Unpacks as `env, make_value, learner`."""

    env: Task
    make_value: Callable[..., Value[Any]]
    learner: Learner

    def __iter__(self) -> Any:
        return iter((self.env, self.make_value, self.learner))


@dataclasses.dataclass(frozen=True)
class Config:
    """A run: environment, method, learner, how it steps and explores, how long, and its seed."""

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
        """Plain values, ready for JSON or TOML; `from_dict` is the way back."""
        sections = {
            kind: {"name": part.name, **part.arguments}
            for kind in KINDS
            if (part := getattr(self, kind))
        }
        records = {name: dataclasses.asdict(getattr(self, name)) for name in RECORDS}
        training_env = {TRAINING_ENV: dict(self.training_env)}
        return {"epochs": self.epochs, "seed": self.seed, **sections, **training_env, **records}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> "Config":
        """Check plain values; what is missing has its default."""
        general = {field.name for field in dataclasses.fields(General)}
        known = {*general, *KINDS, *RECORDS, TRAINING_ENV}
        for key, value in given.items():
            if key not in known:
                raise ConfigError(f"A config has no key {key!r}; {hint(key, known)}")
            if key not in general and not isinstance(value, Mapping):
                raise ConfigError(f"{key} must be a table of keys, not {value!r}.")
        parts: dict[str, Any] = {kind: _component(kind, given.get(kind, {})) for kind in KINDS}
        records = {name: _record(name, kind, given.get(name, {})) for name, kind in RECORDS.items()}
        top = _record("", General, {key: given[key] for key in general if key in given})
        training_env = _training_arguments(parts["env"], given.get(TRAINING_ENV, {}))
        return Config(**parts, **records, training_env=training_env, **dataclasses.asdict(top))

    def to_toml(self) -> str:
        """The text of a config file."""
        return to_toml(self.to_dict())

    @staticmethod
    def from_toml(text: str, *, trust: bool = False) -> "Config":
        """Read the text of a config file; `trust` allows it to name classes to import."""
        del trust  # every name is that of a built-in class
        try:
            return Config.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"The config is not TOML: {one_line(error)}") from error

    def replace(self, changes: Mapping[str, Any]) -> "Config":
        """A config with other values; keys are dotted, `{"env.num_boxes": 8, "epochs": 2}`.

        Naming another component drops the arguments of the old one; a method keeps those of its
        networks, a learner those that the other one has too.
        """
        plain = self.to_dict()
        for kind in KINDS:
            name = changes.get(f"{kind}.name", plain[kind]["name"])
            if name != plain[kind]["name"]:
                kept = _kept_arguments(kind, name)
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
        """The environment in which the run is evaluated."""
        env: Task = self.env.build()
        return env

    def make_value(self, env: Task, *, key: Any) -> Value[Any]:
        """A new value for this environment."""
        value: Value[Any] = self.method.build(
            num_agents=env.num_agents,
            num_actions=env.num_actions,
            observation_size=env.observation_size,
            state_size=env.state_size,
            key=key,
        )
        return value

    def build(self) -> Built:
        """The environment, the maker of values and the learner; `ConfigError` if they misfit."""
        env = self.build_env()
        make_value = functools.partial(self.make_value, env)
        _require_fit(env, make_value)
        learner: Learner = self.learner.build(
            self._environment_to_train_in(env),
            make_value,
            num_epochs=self.epochs,
            optimiser=self.optimiser.build(num_updates=num_updates(self)),
            exploration=self.exploration.build(num_epochs=self.epochs),
        )
        return Built(env, make_value, learner)

    def _environment_to_train_in(self, env: Task) -> Task:
        """The environment that is trained in."""
        if not self.training_env:
            return env
        arguments = {**self.env.arguments, **self.training_env}
        other: Task = Component("env", self.env.name, arguments).build()
        sizes = ("num_agents", "num_actions", "observation_size", "state_size")
        for size in sizes:
            if getattr(env, size) != getattr(other, size):
                raise ConfigError(
                    f"training_env must leave {size} as it is, {getattr(env, size)}; "
                    f"it makes it {getattr(other, size)}."
                )
        return other


def num_updates(config: Config) -> int:
    """Gradient steps of the whole run."""
    return _NUM_UPDATES[config.learner.name](config.epochs, **config.learner.arguments)


def _paper_updates(
    epochs: int,
    *,
    steps_per_epoch: int,
    random_steps: int,
    replay_capacity: int,
    batch_size: int,
    **_: Any,
) -> int:
    remembered = (random_steps + steps_per_epoch * (epoch + 1) for epoch in range(epochs))
    return sum(min(size, replay_capacity) // max(1, batch_size) for size in remembered)


def _parallel_updates(
    epochs: int, *, rounds_per_epoch: int, updates_per_round: int, **_: Any
) -> int:
    return epochs * rounds_per_epoch * updates_per_round


_NUM_UPDATES: dict[str, Callable[..., int]] = {
    "paper": _paper_updates,
    "parallel": _parallel_updates,
}


def record_arguments(name: str) -> dict[str, Argument]:
    """The keys of a plain section, `""` for those at the top."""
    return fields_of(RECORDS.get(name, General))


def _component(kind: str, given: Mapping[str, Any]) -> Component:
    arguments = dict(given)
    name = arguments.pop("name", NOT_GIVEN)
    if name is NOT_GIVEN:
        raise ConfigError(f"{kind} needs a name; known are {', '.join(KINDS[kind].names())}.")
    return Component(kind, convert(f"{kind}.name", str, name), arguments)


def _training_arguments(env: Component, given: Mapping[str, Any]) -> dict[str, Any]:
    """What differs while training, checked as arguments of the environment."""
    known = known_arguments("env", env.name, given)
    for key in given:
        if key not in known:
            raise ConfigError(
                f"{TRAINING_ENV}: env {env.name!r} has no argument {key!r}; {hint(key, known)}"
            )
    return {key: convert(f"{TRAINING_ENV}.{key}", known[key].kind, given[key]) for key in given}


def _record(name: str, kind: type, given: Mapping[str, Any]) -> Any:
    known = fields_of(kind)
    prefix = f"{name}." if name else ""
    for key in given:
        if key not in known:
            raise ConfigError(f"There is no key {prefix + key!r}; {hint(key, known)}")
    checked = {key: convert(prefix + key, known[key].kind, value) for key, value in given.items()}
    try:
        return kind(**checked)
    except ValueError as error:
        raise ConfigError(prefix + one_line(error)) from error


def _require_fit(env: Task, make_value: Callable[..., Value[Any]]) -> None:
    """Trace the value once, so that a method which needs more than this environment has says so."""

    def trace(key: jax.Array) -> Any:
        observation = jnp.zeros((env.num_agents, env.observation_size))
        return tables(env, make_value(key=key), observation, jnp.zeros(env.state_size))

    try:
        eqx.filter_eval_shape(trace, jax.random.PRNGKey(0))
    except ValueError as error:
        raise ConfigError(one_line(error)) from error
