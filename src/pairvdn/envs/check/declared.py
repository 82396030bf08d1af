"""Rules about declarations: names, sizes, shapes, scenes and positions."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pairvdn.envs.base import HasNames, HasPositions
from pairvdn.envs.check.subject import Outcome, Subject, plain
from pairvdn.envs.scene import Scene
from pairvdn.types import TimeStep

_SIZES = ("num_agents", "num_actions", "observation_size", "state_size", "max_steps")


def sizes(subject: Subject[Any]) -> Iterator[str]:
    """`name` is a string, the sizes are whole numbers of at least 1."""
    if not (isinstance(subject.env.name, str) and subject.env.name):
        yield f"name must be a non-empty string, not {subject.env.name!r}"
    for field in _SIZES:
        size = getattr(subject.env, field)
        if not isinstance(size, int) or size < 1:
            yield f"{field} must be a whole number of at least 1, not {size!r}"


def names(subject: Subject[Any]) -> Iterator[str]:
    """If there are names, every action and every observed number has a distinct one."""
    env = subject.env
    if not isinstance(env, HasNames):
        return
    lengths = {"action_names": env.num_actions, "observation_names": env.observation_size}
    for field, length in lengths.items():
        given = getattr(env, field)
        if len(given) != length or len(set(given)) != length or not all(given):
            yield f"{field} must be {length} distinct strings, not {given}"


def hashable(subject: Subject[Any]) -> Iterator[str]:
    """The environment can be hashed, as `jax.jit(env.step)` requires."""
    try:
        hash(subject.env)
    except TypeError as error:
        yield (
            f"jax.jit(env.step) needs an environment that can be hashed, but {error}: keep tuples "
            "instead of arrays, or fields with equinox.field(static=True)"
        )


def traceable(subject: Subject[Any]) -> Iterator[str]:
    """JAX can trace `reset` and `step`: no Python branch on a value."""
    try:
        _traced(subject)
    except Exception as error:  # user code may raise anything
        yield f"reset or step cannot be traced by JAX: {type(error).__name__}: {error}"


def shapes(subject: Subject[Any]) -> Iterator[str]:
    """Every field of both `TimeStep`s has the declared shape and its dtype."""
    env = subject.env
    n, a, o, s = env.num_agents, env.num_actions, env.observation_size, env.state_size
    declared: dict[str, tuple[tuple[int, ...], Any]] = {
        "observation": ((n, o), jnp.float32),
        "state": ((s,), jnp.float32),
        "mask": ((n, a), jnp.bool_),
        "reward": ((), jnp.float32),
        "agent_rewards": ((n,), jnp.float32),
        "terminated": ((), jnp.bool_),
        "truncated": ((), jnp.bool_),
    }
    for function, outcome in zip(("reset", "step"), _traced(subject), strict=True):
        time_step: Any = outcome.time_step
        if not isinstance(time_step, TimeStep):
            yield f"{function} must return a TimeStep, not {type(time_step)}"
            continue
        for field, (shape, dtype) in declared.items():
            seen = getattr(time_step, field)
            if seen.shape != shape or seen.dtype != dtype:
                yield (
                    f"{field} after {function} must be {np.dtype(dtype)}{list(shape)}, "
                    f"not {seen.dtype}{list(seen.shape)}"
                )


def carry(subject: Subject[Any]) -> Iterator[str]:
    """`step` returns a state of the same structure as `reset`, so that a scan can carry it."""
    before, after = (outcome.state for outcome in _traced(subject))
    layouts: list[Any] = [jax.tree.structure(before), jax.tree.structure(after)]
    if layouts[0] != layouts[1]:
        yield f"step must return a state like reset's; {before} became {after}"
        return
    pairs = zip(jax.tree.leaves_with_path(before), jax.tree.leaves(after), strict=True)
    for (path, old), new in pairs:
        if (old.shape, old.dtype, old.weak_type) != (new.shape, new.dtype, new.weak_type):
            # A weak type (of a Python number) that becomes strong in a step compiles twice.
            yield f"state{jax.tree_util.keystr(path)} must stay {old} in a step; it became {new}"


def scene(subject: Subject[Any]) -> Iterator[str]:
    """`scene` gives a valid `Scene` of fixed shapes for any state."""
    states = [subject.start.state, *(sample.outcome.state for sample in subject.samples)]
    many = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    scenes: Any = jax.jit(jax.vmap(subject.env.scene))(many)
    if not isinstance(scenes, Scene):
        yield f"scene must return a Scene, not {type(scenes)}"
        return
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(scenes)):
        yield "everything in a scene must be finite"
    left, bottom, right, top = np.moveaxis(np.asarray(scenes.bounds), -1, 0)
    if not ((left < right) & (bottom < top)).all():
        yield "bounds must be left < right and bottom < top"
    filled = [shape for shape in (scenes.rectangles, scenes.circles) if shape is not None]
    coloured = filled if scenes.lines is None else [*filled, scenes.lines]
    if not all(((shape.colour >= 0) & (shape.colour <= 1)).all() for shape in coloured):
        yield "colours must be from 0 to 1"
    n = subject.env.num_agents
    if not all(((shape.agent >= -1) & (shape.agent < n)).all() for shape in filled):
        yield f"agent must be from -1 to {n - 1}"


def positions(subject: Subject[Any]) -> Iterator[str]:
    """`positions` exists if the spec says so, and is finite float32[n, k] for every time step."""
    has_positions = isinstance(subject.env, HasPositions)
    if subject.env.spec.has_positions != has_positions:
        yield f"spec.has_positions must be {has_positions}, as the method `positions` says"
    if not isinstance(subject.env, HasPositions):
        return
    locate = jax.jit(subject.env.positions)
    steps = [subject.start.time_step, *(sample.outcome.time_step for sample in subject.samples)]
    for time_step in steps:
        located = locate(time_step.observation, time_step.state)
        n = subject.env.num_agents
        if located.ndim != 2 or located.shape[0] != n or located.dtype != jnp.float32:
            yield f"positions must be float32[{n}, k], not {located.dtype}{list(located.shape)}"
        if not np.isfinite(plain(located)).all():
            yield "positions must be finite"


def _traced(subject: Subject[Any]) -> tuple[Outcome, Outcome]:
    """Shapes and dtypes of the results of `reset` and `step`, without running them."""
    # Lambdas, since JAX hashes the traced function and `hashable` is a separate rule.
    env = subject.env
    started = Outcome(*jax.eval_shape(lambda key: env.reset(key), subject.key))
    stepped = jax.eval_shape(
        lambda key, state, actions: env.step(key, state, actions),
        subject.key,
        started.state,
        subject.any_actions,
    )
    return started, Outcome(*stepped)
