"""Action repeat: one rule, on the device and on the host."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, HostCounterCopy

from pairvdn.acting.repeat import repeat_action, repeated


@pytest.mark.parametrize("length", [2, 5, 9])  # ends within, at and after the repeat
@pytest.mark.parametrize("times", [1, 5])
def test_the_device_and_the_host_agree(length: int, times: int) -> None:
    env = Counter(length)
    keys = jax.random.split(jax.random.key(0), (times, 3))
    state, timestep = jax.vmap(env.reset)(keys[0])
    actions = jnp.zeros((3, 1), jnp.int32)
    device, _ = jax.jit(repeat_action, static_argnums=0, static_argnames="discount")(
        env, keys, state, timestep, actions, discount=0.5
    )
    copy = HostCounterCopy(env)
    copy.reset(0)
    *_, (now, totals) = repeated(lambda: copy.step(np.zeros(1, np.int32)), times, discount=0.5)
    for ours, theirs in zip(device.totals, totals, strict=True):
        assert ours.tolist() == [theirs] * 3
    assert device.timestep.observation.ravel().tolist() == [now.observation.item()] * 3
    assert device.ended.tolist() == [length <= times] * 3


def test_rewards_are_discounted_by_every_step() -> None:
    copy = HostCounterCopy(Counter(9))
    copy.reset(0)
    *_, (_, totals) = repeated(lambda: copy.step(np.zeros(1, np.int32)), 3, discount=0.5)
    assert totals == (1 + 2 / 2 + 3 / 4, 1 / 8, 6, 3)


def test_episodes_that_ended_before_stay_as_they_are() -> None:
    env = Counter(9)
    keys = jax.random.split(jax.random.key(0), (4, 2))
    state, timestep = jax.vmap(env.reset)(keys[0])
    ended = jnp.array([True, False])
    after, steps = repeat_action(
        env,
        keys,
        state,
        timestep,
        jnp.zeros((2, 1), jnp.int32),
        ended=ended,
        account=jnp.zeros(2, jnp.int32),
        observe=lambda count, step: count + step.running.astype(jnp.int32),
    )
    assert after.env_state.tolist() == [0, 4]
    assert after.totals.steps.tolist() == steps.tolist() == [0, 4]
