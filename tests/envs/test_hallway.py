"""Hallway beside a slow twin, its rewards case by case, and the returns of known policies."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import assert_mean, policy_returns, random_returns

from pairvdn import envs
from pairvdn.envs.hallway import HallwayState

GROUPS = [[0, 1], [2, 3], [4, 5], [6, 7, 8], [9, 10, 11]]
STAY, TOWARDS, AWAY = range(3)


class Twin:
    """The rules, agent by agent and group by group."""

    def __init__(self, places):
        self.places, self.out, self.steps = list(places), set(), 0

    def step(self, actions):
        for number, members in enumerate(GROUPS):
            for agent in members:
                if number not in self.out and actions[agent] == TOWARDS and self.places[agent] > 0:
                    self.places[agent] -= 1
                if number not in self.out and actions[agent] == AWAY and self.places[agent] < 4:
                    self.places[agent] += 1
        arrived = []
        for number, members in enumerate(GROUPS):
            there = [self.places[agent] == 0 for agent in members]
            if number in self.out or not any(there):
                continue
            self.out.add(number)
            if all(there):
                arrived.append(number)
        self.steps += 1
        return len(arrived) * (1.0 if len(arrived) == 1 else -0.5)

    def observation(self):
        group_of = {agent: number for number, members in enumerate(GROUPS) for agent in members}
        return [[self.places[agent], float(group_of[agent] not in self.out)] for agent in range(12)]


@pytest.fixture(scope="module")
def hallway():
    env = envs.make("hallway")
    return env, jax.jit(env.reset), jax.jit(env.step)


def test_it_plays_as_its_twin(hallway):
    env, reset, step = hallway
    generator = np.random.default_rng(0)
    rewards, lengths = [], []
    for episode in range(60):
        state, told = reset(jax.random.key(episode))
        twin = Twin(state.places.tolist())
        assert set(twin.places) <= {1, 2, 3, 4}
        while not (told.terminated or told.truncated):
            assert told.observation.tolist() == twin.observation()
            assert told.state.tolist() == np.ravel(twin.observation()).tolist()
            # Mostly wait at place 1, from where groups go together now and then: some arrive.
            goes = np.repeat(generator.random(5) < 0.2, [len(members) for members in GROUPS])
            actions = np.where((np.array(twin.places) == 1) & ~goes, STAY, TOWARDS)
            actions = np.where(generator.random(12) < 0.1, generator.integers(0, 3, 12), actions)
            state, told = step(jax.random.key(0), state, jnp.asarray(actions, jnp.int32))
            assert float(told.reward) == pytest.approx(twin.step(actions))
            assert bool(told.terminated) == (len(twin.out) == 5)
            assert bool(told.truncated) == (twin.steps == env.max_steps)
            rewards.append(float(told.reward))
        lengths.append(twin.steps)
    assert {0.0, 1.0, -1.0} <= set(rewards)
    assert min(lengths) < max(lengths)


@pytest.mark.parametrize(
    ("places", "reward", "arrived", "playing"),
    [
        ([1, 1, *[3] * 10], 1.0, 1, [False, True, True, True, True]),
        ([1, 2, *[3] * 10], 0.0, 0, [False, True, True, True, True]),
        ([1, 1, 1, 1, *[3] * 8], -1.0, 0, [False, False, True, True, True]),
        ([1, 1, 1, 2, *[3] * 8], 1.0, 1, [False, False, True, True, True]),
        ([*[3] * 9, 1, 1, 1], 1.0, 1, [True, True, True, True, False]),
        ([1] * 12, -2.5, 0, [False] * 5),
    ],
)
def test_only_a_whole_group_alone_is_rewarded(hallway, places, reward, arrived, playing):
    state = HallwayState(
        jnp.asarray(places, jnp.int32), jnp.ones(5, bool), jnp.int32(0), jnp.int32(0)
    )
    after, told = hallway[2](jax.random.key(0), state, jnp.full(12, TOWARDS, jnp.int32))
    assert float(told.reward) == pytest.approx(reward)
    assert after.playing.tolist() == playing
    assert {name: float(number) for name, number in hallway[0].measures(after).items()} == {
        "arrived": arrived,
        "won": 0.0,
    }
    assert bool(told.terminated) == (not any(playing))


def one_group_after_the_other(key, state, told):
    """Sees everyone: each agent waits at place 1 until it is the turn of its group."""
    del key, told
    first = jnp.argmax(state.playing)
    turn = jnp.repeat(jnp.arange(5), jnp.array([2, 2, 2, 3, 3]), total_repeat_length=12) == first
    ready = jnp.all(~turn | (state.places == 1))
    waits = (state.places == 1) & ~(turn & ready)
    return jnp.where(waits, STAY, TOWARDS).astype(jnp.int32)


def test_returns_of_known_policies(hallway):
    env = hallway[0]
    assert (policy_returns(env, one_group_after_the_other, 512) == 5).all()  # the bound
    assert_mean(random_returns(env, 8192), 0.068, 0.006)


def test_a_wrong_argument_is_explained():
    with pytest.raises(ValueError, match="max_steps must be at least 1, not 0"):
        envs.make("hallway", max_steps=0)
