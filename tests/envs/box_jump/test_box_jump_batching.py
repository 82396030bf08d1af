"""Whichever way a batch is made, the same happens."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.envs.box_jump.batching import batch_last
from pairvdn.envs.box_jump.env import BoxJump

STEPS = 25


def double(x: jax.Array, y: dict[str, jax.Array]) -> Any:
    """On arrays [..., batch]: mixes the axes before the last one only."""
    assert x.shape[-1] == y["y"].shape[-1] <= 4
    return {"sum": 2 * x + jnp.sum(y["y"], axis=0), "y": y["y"][::-1]}


@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_chunks_give_what_single_examples_give(size: int) -> None:
    function = batch_last(double, chunk=4)
    x = jnp.arange(size, dtype=jnp.float32)
    y = {"y": jnp.arange(2.0 * size).reshape(size, 2)}
    together = jax.vmap(function)(x, y)
    for i in range(size):
        alone = function(x[i], {"y": y["y"][i]})
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[i]), alone, together)  # noqa: B023


def test_nested_vmaps_become_one_batch() -> None:
    function = batch_last(double, chunk=4)
    x = jnp.arange(6.0).reshape(2, 3)
    y = {"y": jnp.arange(12.0).reshape(2, 3, 2)}
    nested = jax.vmap(jax.vmap(function))(x, y)
    flat = jax.vmap(function)(x.ravel(), {"y": y["y"].reshape(6, 2)})
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a.reshape(b.shape), b), nested, flat)


def test_arguments_that_all_examples_share() -> None:
    function = batch_last(double, chunk=4)
    y = {"y": jnp.arange(2.0)}
    shared = jax.vmap(function, in_axes=(0, None))(jnp.arange(3.0), y)
    np.testing.assert_array_equal(shared["sum"], 2 * np.arange(3) + 1)
    np.testing.assert_array_equal(shared["y"], [[1, 0]] * 3)


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
