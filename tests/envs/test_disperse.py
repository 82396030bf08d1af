"""Disperse beside a slow twin, its draws, and the returns of known policies."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import assert_mean, policy_returns, random_returns

from pairvdn import envs

CORNERS = [(-1, 1), (1, 1), (-1, -1), (1, -1)]


class Twin:
    """The rules, hospital by hospital; the next need is handed to it."""

    def __init__(self, hospitals):
        self.hospitals, self.needs = list(hospitals), [0, 0, 0, 0]

    def step(self, actions, needy, needed):
        self.hospitals = list(actions)
        missing = [min(self.hospitals.count(one) - self.needs[one], 0) for one in range(4)]
        self.needs = [needed if one == needy else 0 for one in range(4)]
        return sum(missing) / 12

    def observation(self):
        return [
            [
                *(float(one == mine) for one in range(4)),
                self.needs[mine],
                *(float(other == mine) for other in self.hospitals),
            ]
            for mine in self.hospitals
        ]


@pytest.fixture(scope="module")
def disperse():
    env = envs.make("disperse")
    return env, jax.jit(env.reset), jax.jit(env.step)


def test_it_plays_as_its_twin(disperse):
    env, reset, step = disperse
    generator = np.random.default_rng(0)
    paid, drawn, starts = set(), collections.Counter(), collections.Counter()
    for episode in range(60):
        state, told = reset(jax.random.key(episode))
        twin = Twin(state.hospitals.tolist())
        starts.update(twin.hospitals)
        for number in range(env.max_steps):
            assert told.observation.tolist() == twin.observation()
            assert told.state.tolist() == np.ravel(twin.observation()).tolist()
            assert not (told.terminated)
            assert not (told.truncated)
            # Mostly at one hospital, so that a need is sometimes met.
            actions = np.where(generator.random(12) < 0.7, generator.integers(4), 0)
            key = jax.random.fold_in(jax.random.key(episode), number)
            state, told = step(key, state, jnp.asarray(actions, jnp.int32))
            needy, needed = int(state.needy), int(state.needed)
            reward = twin.step(actions.tolist(), needy, needed)
            assert float(told.reward) == pytest.approx(reward)
            assert number > 0 or reward == 0  # nobody is needed in the first step
            paid.add(reward)
            drawn[needy] += 1
            drawn[f"{needed} agents"] += 1
        assert bool(told.truncated)
        assert env.positions(told.observation, told.state).tolist() == [
            list(map(float, CORNERS[one])) for one in twin.hospitals
        ]
    assert {0.0, -1.0} <= paid  # met, and nobody there although all twelve are needed
    assert set(drawn) == {0, 1, 2, 3, *(f"{many} agents" for many in range(6, 13))}
    assert min(drawn[one] for one in range(4)) > 600 / 4 * 0.7
    assert min(drawn[f"{many} agents"] for many in range(6, 13)) > 600 / 7 * 0.6
    assert min(starts.values()) > 720 / 4 * 0.7


def all_to_the_need(key, state, told):
    del key, told
    return jnp.full(12, state.needy, jnp.int32)


def all_to_the_first(key, state, told):
    del key, state, told
    return jnp.zeros(12, jnp.int32)


def test_returns_of_known_policies(disperse):
    env = disperse[0]
    assert (policy_returns(env, all_to_the_need, 512) == 0).all()  # the bound
    assert_mean(random_returns(env, 4096), -4.50, 0.01)
    assert_mean(policy_returns(env, all_to_the_first, 4096), -5.09, 0.02)


def test_a_wrong_argument_is_explained():
    with pytest.raises(ValueError, match="max_steps must be at least 1, not 0"):
        envs.make("disperse", max_steps=0)
