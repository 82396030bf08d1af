"""A JaxMARL environment with arrays instead of dicts by agent."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.adapters.jaxmarl.library import lenient
from pairvdn.types import PRNGKey


@dataclasses.dataclass(frozen=True, eq=False)
class Original:
    """A JaxMARL environment and the facts read from it when it was wrapped.

    `clock` is "held" if its time limit can be kept from striking: it is a field `step` of its
    state. It is "hidden" if there is a limit but no such field, and "none" if there is no limit.
    """

    env: Any
    agents: tuple[Any, ...]  # names, or numbers
    num_actions: tuple[int, ...]
    observation_sizes: tuple[int, ...]
    max_steps: int | None
    clock: Literal["held", "hidden", "none"]
    mask_method: str | None  # the method that says which actions are available
    state_size: int

    def reset(self, key: PRNGKey) -> tuple[list[Float[Array, "..."]], Any]:
        """Observations, each in one line, and the state."""
        with lenient():
            observations, inner = self.env.reset(key)
        return self._lines(observations), strong(inner)

    def step(
        self, key: PRNGKey, inner: Any, steps: Int32[Array, ""], actions: Int32[Array, " n"]
    ) -> tuple[list[Float[Array, "..."]], Any, Float[Array, " n"], Bool[Array, ""]]:
        """Observations, state, rewards, and whether anything but the clock ended the episode."""
        if self.clock == "held":
            # Limits strike at a step of max_steps, looked at before or after the step is counted.
            inner = with_clock(inner, jnp.minimum(steps, (self.max_steps or 0) - 2))
        with lenient():
            observations, inner, rewards, dones, _ = self.env.step_env(
                key, inner, dict(zip(self.agents, actions, strict=True))
            )
        together = jnp.stack([jnp.asarray(rewards[agent], jnp.float32) for agent in self.agents])
        ended = jnp.asarray(dones["__all__"], bool)
        return self._lines(observations), strong(inner), together.reshape(-1), ended.reshape(())

    def available(self, inner: Any) -> Bool[Array, "n a"]:
        """Which actions JaxMARL allows; all where it does not say."""
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
        """JaxMARL's own global state where it has one, else all observations."""
        if not hasattr(self.env, "get_world_state"):
            return jnp.concatenate(observations)
        with lenient():
            return jnp.asarray(self.env.get_world_state(inner), jnp.float32).reshape(-1)

    def _lines(self, observations: dict[str, Any]) -> list[Float[Array, "..."]]:
        return [jnp.asarray(observations[a], jnp.float32).reshape(-1) for a in self.agents]


def read(env: Any) -> Original:
    """Read the facts of `env` without running it; ValueError if it does not fit."""
    agents = tuple(env.agents)
    counts = tuple(_num_actions(env, agent) for agent in agents)
    with lenient():
        seen, inner = jax.eval_shape(lambda key: env.reset(key), jax.random.PRNGKey(0))
    if not set(agents) <= set(seen):
        raise ValueError(
            f"{env.name} gives observations of {', '.join(map(str, seen))}, but its agents are "
            f"{', '.join(map(str, agents))}; only one observation per agent can be read."
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
    """The state with the dtypes that it has and no weak ones, so that a scan can carry it."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), inner)


def with_clock(inner: Any, steps: Int32[Array, ""]) -> Any:
    """The state with its fields `step`, also those of states inside it, set to `steps`."""

    def changed(path: tuple[Any, ...], leaf: Array) -> Array:
        return jnp.asarray(steps, leaf.dtype) if _is_clock(path) else leaf

    return jax.tree.map_with_path(changed, inner)


def _is_clock(path: tuple[Any, ...]) -> bool:
    return getattr(path[-1], "name", None) == "step"


def _num_actions(env: Any, agent: Any) -> int:
    space = env.action_space(agent)
    if not hasattr(space, "n"):
        raise ValueError(
            f"{env.name} has {type(space).__name__} actions; only Discrete ones can be learned "
            "here (some environments of JaxMARL take an argument action_type)."
        )
    return int(space.n)


def _mask_method(env: Any, inner: Any, counts: dict[str, int]) -> str | None:
    """The method that says which actions are available, if there is one that fits."""
    for method in ("get_avail_actions", "get_legal_moves"):
        ask: Callable[[Any], Any] | None = getattr(env, method, None)
        if ask is None:
            continue
        try:
            with lenient():
                available = jax.eval_shape(ask, inner)
        except NotImplementedError:  # the base class has the method for all
            continue
        if all(available[agent].shape == (count,) for agent, count in counts.items()):
            return method
    return None
