"""Recording greedy episodes of runs."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pairvdn.config.errors import ConfigError
from pairvdn.envs import (
    Environment,
    HasMeasureMeanings,
    HasNames,
    HostEnvironment,
    Task,
    seconds_per_step,
)
from pairvdn.evaluation import Recording, record_greedy, record_on_host
from pairvdn.evaluation.host_recording import TooManyFramesError
from pairvdn.runs.analysis.evaluate import Settings, env_for, require_setting
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import seeds_of
from pairvdn.runs.load import Loaded, load

# A whole recording is held in memory.
_MOST = {"episodes": 100, "max_steps": 20_000}


@dataclasses.dataclass(frozen=True)
class RecordedRun:
    """Recorded episodes of a run, and facts to show with them."""

    name: str  # of its folder
    environment: str
    method: str
    checkpoint: str
    epoch: int
    seed: int  # of the first episode
    num_agents: int
    action_names: tuple[str, ...]
    observation_names: tuple[str, ...]
    measure_meanings: Mapping[str, str]
    seconds_per_step: float
    recordings: list[Recording]


def record_run(folder: Path, settings: Settings, *, trust: bool = False) -> RecordedRun:
    """Play and record greedy episodes of a run."""
    settings.require_most(**_MOST)
    loaded = load(folder, settings.checkpoint, trust=trust)
    return _record(loaded, _env_for(loaded, settings), settings)


def record_both(
    folder: Path, other: Path, settings: Settings, *, trust: bool = False
) -> list[RecordedRun]:
    """Record two runs from the same starts; they must play the same environment."""
    settings.require_most(**_MOST)
    runs = [load(one, settings.checkpoint, trust=trust) for one in (folder, other)]
    envs = [_env_for(one, settings) for one in runs]
    if not _play_alike(runs[0], runs[1], envs[0], envs[1], seed=settings.seed):
        raise ConfigError(
            f"{folder} and {other} do not play the same environment: "
            f"{_text(runs[0])} and {_text(runs[1])}."
        )
    return [_record(one, env, settings) for one, env in zip(runs, envs, strict=True)]


def _env_for(loaded: Loaded, settings: Settings) -> Task:
    """The environment to record; one on the host is asked to render, if it can."""
    env = env_for(loaded, settings.max_steps)
    require_setting(1, _MOST["max_steps"], **{"max-steps": env.max_steps})
    if not isinstance(env, HostEnvironment):
        return env
    steps = {"env.max_steps": env.max_steps}
    try:
        return loaded.config.replace({**steps, "env.render_mode": "rgb_array"}).build_env()
    except ConfigError:  # it has no such argument
        return env


def _record(loaded: Loaded, env: Task, settings: Settings) -> RecordedRun:
    actions, observations = _names(env)
    return RecordedRun(
        name=_name(loaded.folder.resolve()),
        environment=loaded.config.env.name,
        method=loaded.config.method.name,
        checkpoint=loaded.checkpoint,
        epoch=loaded.epoch,
        seed=settings.seed,
        num_agents=env.num_agents,
        action_names=actions,
        observation_names=observations,
        measure_meanings=env.measure_meanings if isinstance(env, HasMeasureMeanings) else {},
        seconds_per_step=seconds_per_step(env),
        recordings=_recordings(loaded, env, settings),
    )


def _recordings(loaded: Loaded, env: Task, settings: Settings) -> list[Recording]:
    chosen: dict[str, Any] = {
        "episodes": settings.episodes,
        "seed": settings.seed,
        "action_repeat": loaded.action_repeat,
    }
    if not isinstance(env, HostEnvironment):
        return record_greedy(env, loaded.value, **chosen)
    try:
        return record_on_host(env, loaded.value, **chosen)
    except TooManyFramesError as error:
        raise ConfigError(str(error)) from error


def _name(folder: Path) -> str:
    """The name of a run; that of one of several seeds includes the folder of all."""
    try:
        among_seeds = seeds_of(folder.parent) is not None
    except FolderError:  # a file of the same name that has nothing to do with this run
        among_seeds = False
    return f"{folder.parent.name}/{folder.name}" if among_seeds else folder.name


def _play_alike(run: Loaded, other: Loaded, first: Task, second: Task, *, seed: int) -> bool:
    """Whether two runs play the same environment: on the host, the one with equal arguments."""
    if (first.name, first.num_agents, first.num_actions) != (
        second.name,
        second.num_agents,
        second.num_actions,
    ):
        return False
    if isinstance(first, Environment) and isinstance(second, Environment):
        return _start_alike(first, second, seed=seed)
    return run.config.env == other.config.env


def _start_alike(first: Environment[Any], second: Environment[Any], *, seed: int) -> bool:
    """Whether two environments have the same initial scene."""

    def start(env: Environment[Any]) -> Any:
        state, _ = env.reset(jax.random.key(seed))
        return env.scene(state)

    one, other = (jax.tree.leaves(jax.jit(start, static_argnums=0)(env)) for env in (first, second))
    return len(one) == len(other) and all(map(np.array_equal, one, other))


def _text(run: Loaded) -> str:
    arguments = ", ".join(f"{key} {value}" for key, value in run.config.env.arguments.items())
    return f"{run.config.env.name} ({arguments})"


def _names(env: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of actions and of observations; numbers if the environment has none."""
    if isinstance(env, HasNames):
        return env.action_names, env.observation_names
    numbers = tuple(map(str, range(max(env.num_actions, env.observation_size))))
    return numbers[: env.num_actions], numbers[: env.observation_size]
