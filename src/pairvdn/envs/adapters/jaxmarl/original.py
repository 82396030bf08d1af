"""JaxMARL itself: importing it, and its environments with arrays instead of dicts by agent."""

import contextlib
import dataclasses
import importlib
import io
import math
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import PRNGKey


def library() -> ModuleType:
    """Import `jaxmarl`; if it is missing, ImportError with the command to install it."""
    try:
        with _quietly():
            return importlib.import_module("jaxmarl")
    except ImportError as error:
        raise ImportError(
            f"JaxMARL's environments need a package that is not installed ({error}); "
            "get it with: pip install 'pairvdn[jaxmarl]'"
        ) from error


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Silence JaxMARL's import, which prints its optional parts and restores Python's own streams.

    So those are silenced as well, and the caller's redirected streams are restored.
    """
    silence = io.StringIO()
    own = sys.__stdout__
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(sys.stderr):
        sys.__stdout__ = silence  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            sys.__stdout__ = own  # type: ignore[misc]


@contextlib.contextmanager
def lenient() -> Iterator[None]:
    """Allow implicit dtype and rank promotion, which JaxMARL relies on."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@dataclasses.dataclass(frozen=True, eq=False)
class Original:
    """A JaxMARL environment and the facts read from it.

    `clock` is "held" if its time limit can be disabled through a field `step` of its state,
    "hidden" if there is a limit but no such field, and "none" if there is no limit.
    """

    env: Any
    agents: tuple[Any, ...]  # names, or numbers
    num_actions: tuple[int, ...]
    observation_sizes: tuple[int, ...]
    max_steps: int | None
    clock: Literal["held", "hidden", "none"]
    mask_method: str | None  # the method that returns the available actions
    state_size: int

    def reset(self, key: PRNGKey) -> tuple[list[Float[Array, "..."]], Any]:
        """Flat observations and the state."""
        with lenient():
            observations, inner = self.env.reset(key)
        return self._flat(observations), strong(inner)

    def step(
        self, key: PRNGKey, inner: Any, steps: Int32[Array, ""], actions: Int32[Array, " n"]
    ) -> tuple[list[Float[Array, "..."]], Any, Float[Array, " n"], Bool[Array, ""]]:
        """Observations, state, rewards, and whether the episode ended other than by the clock."""
        if self.clock == "held":
            # The limit applies at step max_steps, before or after the step is counted.
            inner = with_clock(inner, jnp.minimum(steps, (self.max_steps or 0) - 2))
        with lenient():
            observations, inner, rewards, dones, _ = self.env.step_env(
                key, inner, dict(zip(self.agents, actions, strict=True))
            )
        stacked = jnp.stack([jnp.asarray(rewards[agent], jnp.float32) for agent in self.agents])
        ended = jnp.asarray(dones["__all__"], bool)
        return self._flat(observations), strong(inner), stacked.reshape(-1), ended.reshape(())

    def available(self, inner: Any) -> Bool[Array, "n a"]:
        """The actions that JaxMARL allows; all without a mask."""
        shape = (len(self.agents), max(self.num_actions))
        if self.mask_method is None:
            return jnp.ones(shape, bool)
        with lenient():
            available = getattr(self.env, self.mask_method)(inner)
        rows = [jnp.asarray(available[agent], bool) for agent in self.agents]
        return jnp.stack([jnp.pad(row, (0, shape[1] - row.size)) for row in rows])

    def world_state(
        self, inner: Any, observations: list[Float[Array, "..."]]
    ) -> Float[Array, " s"]:
        """JaxMARL's own global state if it has one, else all observations."""
        if not hasattr(self.env, "get_world_state"):
            return jnp.concatenate(observations)
        with lenient():
            return jnp.asarray(self.env.get_world_state(inner), jnp.float32).reshape(-1)

    def _flat(self, observations: dict[str, Any]) -> list[Float[Array, "..."]]:
        return [jnp.asarray(observations[a], jnp.float32).reshape(-1) for a in self.agents]


def read(env: Any) -> Original:
    """Read the facts of `env` without running it; ValueError if it does not fit."""
    agents = tuple(env.agents)
    counts = tuple(_num_actions(env, agent) for agent in agents)
    with lenient():
        seen, inner = jax.eval_shape(lambda key: env.reset(key), jax.random.PRNGKey(0))
    if not set(agents) <= set(seen):
        raise ValueError(
            f"{env.name} must return an observation for each agent, "
            f"{', '.join(map(str, agents))}, not for {', '.join(map(str, seen))}."
        )
    sizes = tuple(math.prod(seen[agent].shape) for agent in agents)
    max_steps = getattr(env, "max_steps", None)
    has_step = any(_is_clock(path) for path, _ in jax.tree.leaves_with_path(inner))
    original = Original(
        env=env,
        agents=agents,
        num_actions=counts,
        observation_sizes=sizes,
        max_steps=None if max_steps is None else int(max_steps),
        clock="none" if max_steps is None else "held" if has_step else "hidden",
        mask_method=_mask_method(env, inner, dict(zip(agents, counts, strict=True))),
        state_size=sum(sizes),
    )
    if not hasattr(env, "get_world_state"):
        return original
    world = jax.eval_shape(lambda state: original.world_state(state, []), inner)
    return dataclasses.replace(original, state_size=world.size)


def strong(inner: Any) -> Any:
    """The state without weak dtypes, so that a scan can carry it."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), inner)


def with_clock(inner: Any, steps: Int32[Array, ""]) -> Any:
    """The state with its fields `step`, nested ones included, set to `steps`."""

    def changed(path: tuple[Any, ...], leaf: Array) -> Array:
        return jnp.asarray(steps, leaf.dtype) if _is_clock(path) else leaf

    return jax.tree.map_with_path(changed, inner)


def _is_clock(path: tuple[Any, ...]) -> bool:
    return getattr(path[-1], "name", None) == "step"


def _num_actions(env: Any, agent: Any) -> int:
    space = env.action_space(agent)
    if not hasattr(space, "n"):
        raise ValueError(
            f"{env.name} has {type(space).__name__} actions, but only Discrete ones are supported "
            "(some environments of JaxMARL take an argument action_type)."
        )
    return int(space.n)


def _mask_method(env: Any, inner: Any, counts: dict[str, int]) -> str | None:
    """The method that returns the available actions, if there is one."""
    for method in ("get_avail_actions", "get_legal_moves"):
        ask: Callable[[Any], Any] | None = getattr(env, method, None)
        if ask is None:
            continue
        try:
            with lenient():
                available = jax.eval_shape(ask, inner)
        except NotImplementedError:  # inherited from the base class
            continue
        if all(available[agent].shape == (count,) for agent, count in counts.items()):
            return method
    return None
