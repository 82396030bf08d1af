"""The memory that a run needs, known from shapes alone before anything is allocated."""

import functools
import math
import os
from typing import Any

import jax
import jax.numpy as jnp

from pairvdn.checks import raised
from pairvdn.config.config import Built, Config
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Environment
from pairvdn.learning import Learner, LearnerState


@functools.lru_cache(maxsize=4)
def state_shape(learner: Learner) -> LearnerState:
    """The shapes of a learner's state; tracing them takes seconds, so they are remembered."""
    return learner.shape()


def require_memory(config: Config, built: Built, num_seeds: int) -> None:
    """Raise `ConfigError`, naming the largest part, if the state of a run cannot fit."""
    try:
        state = state_shape(built.learner)
    except ConfigError:
        raise
    except Exception as error:  # an environment of a user may raise anything
        raise ConfigError(
            f"env {config.env.name!r} cannot be reset and stepped: {raised(error)}"
        ) from error
    capacity = config.learner.arguments.get("replay_capacity")
    envs = config.learner.arguments.get("num_envs", 1)
    env = built.env
    parts = {
        f"the replay (learner.replay_capacity = {capacity}; {env.num_agents} agents observe "
        f"{env.observation_size} numbers each, and the state has {env.state_size})": state.replay,
        "the networks (section method)": state.learned,
        f"the environments (learner.num_envs = {envs})": state.collecting,
        "the rows that are drawn for the updates of a round (section learner)": _drawn(built),
    }
    sizes = {name: _bytes(part) for name, part in parts.items()}
    seeds = num_seeds if isinstance(built.env, Environment) else 1  # others train one by one
    needed, available = sum(sizes.values()) * seeds, _available()
    if needed > available:
        largest = max(sizes, key=lambda name: sizes[name])
        several = f" for {seeds} seeds (seeds = {seeds})" if seeds > 1 else ""
        raise ConfigError(
            f"This run needs {needed / 2**30:,.1f} GiB of memory{several}, most of it for "
            f"{largest}, and there are {available / 2**30:,.1f} GiB: lower that."
        )


def _drawn(built: Built) -> Any:
    """The rows of the replay that the updates of a round use, for all of them at once."""
    learner = built.learner
    if learner.replay_capacity is None:
        return ()
    key, size = jax.random.PRNGKey(0), jnp.int32(0)
    rows = functools.partial(learner.minibatches.rows, capacity=learner.replay_capacity)
    return jax.eval_shape(rows, key, size)


def _bytes(tree: Any) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def _available() -> int:
    """The memory of all devices, or of this machine if the devices are its processors."""
    statistics = [device.memory_stats() or {} for device in jax.devices()]
    if all("bytes_limit" in one for one in statistics):
        return sum(int(one["bytes_limit"]) for one in statistics)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
