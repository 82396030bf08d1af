"""Returns of whole episodes under a given policy, many at once."""

import jax
import jax.numpy as jnp
import numpy as np


def policy_returns(env, policy, episodes, seed=0):
    """What `policy(key, state, time_step) -> actions` collects in each of so many episodes."""

    def act(carry, key):
        state, told, going, total = carry
        policy_key, step_key = jax.random.split(key)
        state, told = env.step(step_key, state, policy(policy_key, state, told))
        total = total + jnp.where(going, told.reward, 0.0)
        return (state, told, going & ~(told.terminated | told.truncated), total), None

    def play(key):
        reset_key, key = jax.random.split(key)
        start = (*env.reset(reset_key), jnp.asarray(True), jnp.float32(0.0))
        (_, _, going, total), _ = jax.lax.scan(act, start, jax.random.split(key, env.max_steps))
        return going, total

    going, totals = jax.jit(jax.vmap(play))(jax.random.split(jax.random.key(seed), episodes))
    assert not going.any()
    return np.asarray(totals)


def random_actions(key, state, time_step):
    """Uniform among those allowed."""
    del state
    preferences = jax.random.uniform(key, time_step.mask.shape)
    return jnp.where(time_step.mask, preferences, -1.0).argmax(axis=1).astype(jnp.int32)


def assert_mean(returns, expected, its_error=0.0):
    """The mean is the expected one within 3 standard errors, those of the expected one included."""
    error = np.hypot(returns.std() / np.sqrt(len(returns)), its_error)
    assert abs(returns.mean() - expected) < 3 * error, (returns.mean(), expected, error)


def random_returns(env, episodes, seed=0):
    """What uniformly random allowed actions collect."""
    return policy_returns(env, random_actions, episodes, seed)
