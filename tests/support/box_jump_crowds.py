"""Whole episodes under simple policies, in our physics (many at once) and in Box2D."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from box2d_world import start_like

from pairvdn.envs.box_jump.env import BoxJump

LEFT, RIGHT, JUMP = 1, 2, 3
# (numbers uniform in [0, 1), x of the boxes, middle of the map) -> actions
Policy = Callable[[Any, Any, float], Any]


def uniform(noise: Any, x: Any, middle: float) -> Any:
    """Every action as likely as any other."""
    return (4 * noise).astype("int32")


def crowd(noise: Any, x: Any, middle: float) -> Any:
    """Everyone walks to the middle and jumps now and then."""
    towards = LEFT + (RIGHT - LEFT) * (x < middle).astype("int32")
    jump = (noise < 0.3).astype("int32")
    return jump * JUMP + (1 - jump) * towards


class Episodes(NamedTuple):
    """Numbers of each episode."""

    returns: np.ndarray
    best: np.ndarray
    mean_height: np.ndarray  # over boxes and steps
    fallen: np.ndarray  # boxes at the end
    sunk: np.ndarray  # share of box-steps below the floor's level without having fallen
    finite: np.ndarray  # whether every observation was


@eqx.filter_jit
def _episodes(env: BoxJump, policy: Policy, key: jax.Array, count: int) -> Episodes:
    reset_key, *keys = jax.random.split(key, env.max_steps + 1)
    state, _ = jax.vmap(env.reset)(jax.random.split(reset_key, count))
    middle = env.parameters.width / 2

    def step(carry: Any, key: jax.Array) -> Any:
        state, totals = carry
        noise = jax.random.uniform(key, (count, env.num_agents))
        actions = policy(noise, state.bodies.x, middle)
        state, time_step = jax.vmap(env.step, in_axes=(None, 0, 0))(key, state, actions)
        y, fallen = state.bodies.y, state.fallen
        heights = jnp.where(fallen, 0.0, jnp.maximum(y - 0.5, 0.0))
        now = Episodes(
            returns=time_step.reward,
            best=jnp.zeros(count),
            mean_height=jnp.mean(heights, axis=1) / env.max_steps,
            fallen=jnp.zeros(count),
            sunk=jnp.mean((y < 0) & ~fallen, axis=1) / env.max_steps,
            finite=1
            - jnp.all(jnp.isfinite(time_step.observation), axis=(1, 2)).astype(jnp.float32),
        )
        return (state, jax.tree.map(jnp.add, totals, now)), None

    start = (state, Episodes(*[jnp.zeros(count)] * 6))
    (state, totals), _ = jax.lax.scan(step, start, jnp.stack(keys))
    return totals._replace(
        best=state.best, fallen=jnp.sum(state.fallen, axis=1), finite=totals.finite == 0
    )


def play_episodes(env: BoxJump, policy: Policy, seed: int, count: int) -> Episodes:
    """`count` episodes in our physics."""
    return jax.tree.map(np.asarray, _episodes(env, policy, jax.random.key(seed), count))


def play_episodes_in_box2d(env: BoxJump, policy: Policy, seed: int, count: int) -> Episodes:
    """`count` episodes in Box2D, from starts drawn as ours are."""
    generator = np.random.default_rng(seed)
    parameters = env.parameters
    reset = jax.jit(env.reset)
    episodes = []
    for key in jax.random.split(jax.random.key(seed), count):
        world = start_like(reset(key)[0], parameters)
        heights, sunk = [], []
        for _ in range(env.max_steps):
            noise = generator.uniform(size=env.num_agents).astype(np.float32)
            world.step(policy(noise, world.places[0], parameters.width / 2))
            heights.append(world.heights.mean())
            sunk.append(np.mean((world.places[1] < 0) & ~world.fallen))
        gained = (world.best - parameters.best_start) / parameters.best_divisor
        episodes.append(
            (gained, world.best, np.mean(heights), world.fallen.sum(), np.mean(sunk), 1)
        )
    return Episodes(*np.array(episodes, float).T)


def standard_errors_apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Difference of the means over its standard error."""
    error = np.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    return float((ours.mean() - theirs.mean()) / error)
