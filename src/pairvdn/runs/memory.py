"""The memory that a run needs, known from shapes alone before anything is allocated."""

import functools
import math
import os
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from pairvdn.checks import raised
from pairvdn.config.config import Built, Config
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Environment, Task
from pairvdn.learning import Learner, LearnerState

_KEY = jax.ShapeDtypeStruct((2,), jnp.uint32)
_SIZE = jax.ShapeDtypeStruct((), jnp.int32)


@functools.lru_cache(maxsize=4)
def state_shape(learner: Learner) -> LearnerState:
    """The shapes of a learner's state; tracing them takes seconds, so they are remembered."""
    return learner.shape()


def require_memory(config: Config, built: Built, num_seeds: int) -> None:
    """Raise `ConfigError`, naming the largest part, if the state of a run cannot fit."""
    learner, env = built.learner, built.env
    seeds = num_seeds if isinstance(env, Environment) else 1  # others train one by one
    capacity = config.learner.arguments.get("replay_capacity")
    parts = {
        "the networks (section method)": jax.eval_shape(learner.updater.init, _KEY),
        "the rows that are drawn for the updates of a round (section learner)": _drawn(learner),
    }
    _require_room(parts, seeds)  # before the environments are traced, with networks of this size
    try:
        state = state_shape(learner)
        block = learner.block_shape() if learner.replay_capacity is None else ()
    except ConfigError:
        raise
    except Exception as error:  # an environment of a user may raise anything
        raise ConfigError(
            f"env {config.env.name!r} cannot be reset and stepped: {raised(error)}"
        ) from error
    parts |= {
        f"the replay (learner.replay_capacity = {capacity}; {env.num_agents} agents observe "
        f"{env.observation_size} numbers each, and the state has {env.state_size})": state.replay,
        f"the environments (learner.num_envs = {learner.collector.num_envs})": state.collecting,
        f"the steps of a round (learner.agent_steps_per_round = {learner.agent_steps_per_round}, "
        f"learner.num_envs = {learner.collector.num_envs})": block,
        f"the episodes of an evaluation (evaluation.episodes = {config.evaluation.episodes})": (
            _observed(env, config.evaluation.episodes)
        ),
    }
    _require_room(parts, seeds)


def _require_room(parts: Mapping[str, Any], seeds: int) -> None:
    sizes = {name: _bytes(part) for name, part in parts.items()}
    needed, available = sum(sizes.values()) * seeds, _available()
    if needed > available:
        largest = max(sizes, key=lambda name: sizes[name])
        several = f" for {seeds} seeds (seeds = {seeds})" if seeds > 1 else ""
        raise ConfigError(
            f"This run needs {needed / 2**30:,.1f} GiB of memory{several}, most of it for "
            f"{largest}, and there are {available / 2**30:,.1f} GiB: lower that."
        )


def _observed(env: Task, episodes: int) -> Any:
    """What the agents of so many episodes, side by side, observe and may do."""
    numbers = env.num_agents * (env.observation_size + env.num_actions) + env.state_size
    side_by_side = episodes if isinstance(env, Environment) else 1
    return jax.ShapeDtypeStruct((side_by_side, numbers), jnp.float32)


def _drawn(learner: Learner) -> Any:
    """The rows of the replay that the updates of a round use, for all of them at once."""
    if learner.replay_capacity is None:
        return ()
    rows = functools.partial(learner.minibatches.rows, capacity=learner.replay_capacity)
    return jax.eval_shape(rows, _KEY, _SIZE)


def _bytes(tree: Any) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def _available() -> int:
    """The memory of all devices, or of this machine if the devices are its processors."""
    statistics = [device.memory_stats() or {} for device in jax.local_devices()]
    if all("bytes_limit" in one for one in statistics):
        return sum(int(one["bytes_limit"]) for one in statistics) * int(jax.process_count())
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
