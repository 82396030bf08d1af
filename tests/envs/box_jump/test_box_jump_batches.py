"""Whichever way a batch is made, the same happens."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.envs.box_jump.env import BoxJump

STEPS = 25


def rollout(env: BoxJump, key: jax.Array) -> Any:
    """The end of a short episode: the last time step, and every reward."""
    state, first = env.reset(key)

    def step(carry: Any, key: jax.Array) -> Any:
        state, _ = carry
        actions = jax.random.randint(key, (env.num_agents,), 0, 4, dtype=jnp.int32)
        state, time_step = env.step(key, state, actions)
        return (state, time_step), time_step.reward

    (_, last), rewards = jax.lax.scan(step, (state, first), jax.random.split(key, STEPS))
    return last, rewards


@pytest.mark.parametrize("fixed_rotation", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_vmap_nested_vmap_and_no_vmap_agree(fixed_rotation: bool) -> None:
    env = BoxJump("table1", num_boxes=5, fixed_rotation=fixed_rotation)
    keys = jax.random.split(jax.random.key(0), 6)
    flat = jax.jit(jax.vmap(lambda key: rollout(env, key)))(keys)
    nested = jax.jit(jax.vmap(jax.vmap(lambda key: rollout(env, key))))(keys.reshape(2, 3))
    alone = jax.jit(lambda key: rollout(env, key))(keys[4])

    def close(a: jax.Array, b: jax.Array) -> None:
        np.testing.assert_allclose(a, b, atol=1e-4)  # the compiler may contract a * b + c

    jax.tree.map(lambda a, b: close(a.reshape(b.shape), b), nested, flat)
    jax.tree.map(lambda a, b: close(a, b[4]), alone, flat)


def test_old_style_keys_work() -> None:
    env = BoxJump(num_boxes=2)
    state, _ = env.reset(jax.random.PRNGKey(0))
    _, time_step = env.step(jax.random.PRNGKey(1), state, jnp.zeros(2, jnp.int32))
    assert time_step.observation.shape == (2, 13)
