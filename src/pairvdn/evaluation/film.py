"""One episode, step by step: what a picture or a film of it needs."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PyTree

from pairvdn.envs import Environment, Task
from pairvdn.envs.scene import Scene
from pairvdn.learning.choose import choose
from pairvdn.learning.exploration import random_actions
from pairvdn.learning.policy import greedy_actions
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value


class Film(eqx.Module):
    """An episode from its reset on; the leading axis of every leaf is time, at least `steps + 1`.

    After the end of the episode it stands still. `length` is the number of steps until then.
    """

    scenes: Scene
    observations: Float[Array, "t n o"]
    rewards: Float[Array, " t"]
    length: Int32[Array, ""]

    def scene(self, step: int) -> Scene:
        """What there is to see after so many steps."""
        scene: Scene = jax.tree.map(lambda leaf: leaf[step], self.scenes)
        return scene


def film_greedy(env: Task, value: Value[Any], *, seed: int, action_hold: int = 1) -> Film:
    """An episode in which the agents do what `value` thinks best."""
    if not isinstance(env, Environment):
        raise ValueError(f"{env.name} is stepped on the host and has no scenes to film.")
    return _film_greedy(env, value, jax.random.PRNGKey(seed), action_hold)


def film_random(env: Environment[Any], *, seed: int) -> Film:
    """An episode of uniformly random allowed actions."""
    return _film_random(env, jax.random.PRNGKey(seed))


@eqx.filter_jit
def _film_greedy(env: Environment[Any], value: Value[Any], key: Any, action_hold: int) -> Film:
    return _film(env, lambda _, timestep: greedy_actions(env, value, timestep), key, action_hold)


@eqx.filter_jit
def _film_random(env: Environment[Any], key: Any) -> Film:
    return _film(env, lambda key, timestep: random_actions(key, timestep.mask), key, 1)


def _film(
    env: Environment[Any],
    policy: Callable[[PRNGKey, TimeStep], Int32[Array, " n"]],
    key: PRNGKey,
    action_hold: int,
) -> Film:
    def look(env_state: PyTree[Array], timestep: TimeStep) -> tuple[Scene, Array, Array]:
        return env.scene(env_state), timestep.observation, timestep.reward

    def advance(carry: Any, step: Int32[Array, ""]) -> Any:
        env_state, timestep, held = carry
        policy_key, env_key = jax.random.split(jax.random.fold_in(key, step + 1))
        actions = jax.lax.cond(
            step % action_hold == 0, lambda: policy(policy_key, timestep), lambda: held
        )
        going = ~(timestep.terminated | timestep.truncated)
        after = choose(going, env.step(env_key, env_state, actions), (env_state, timestep))
        return (*after, actions), (look(*after), going)

    env_state, timestep = env.reset(jax.random.fold_in(key, 0))
    start = (env_state, timestep, jnp.zeros(env.num_agents, jnp.int32))
    steps = jnp.arange(env.max_steps, dtype=jnp.int32)
    _, (seen, going) = jax.lax.scan(advance, start, steps)
    scenes, observations, rewards = jax.tree.map(
        lambda first, rest: jnp.concatenate([first[None], rest]), look(env_state, timestep), seen
    )
    return Film(scenes, observations, rewards, jnp.sum(going).astype(jnp.int32))
