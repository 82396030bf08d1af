"""Pursuit beside a slow twin, single rules, and the returns of known policies."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import assert_mean, policy_returns, random_returns

from pairvdn import envs
from pairvdn.envs.pursuit import PursuitState

WAYS = [(0, 1), (1, 0), (0, -1), (-1, 0)]
STOP = 8


def beside(cell, way):
    return cell[0] + way[0], cell[1] + way[1]


def on_map(cell):
    return 0 <= cell[0] < 10 and 0 <= cell[1] < 10


class Twin:
    """The rules, one predator and one prey after the other; who is gone is None."""

    def __init__(self, predators, prey):
        self.predators = [tuple(cell) for cell in predators]
        self.prey = [tuple(cell) for cell in prey]

    def allowed(self, predator, action):
        if action == STOP:
            return True
        if self.predators[predator] is None:
            return False
        cell = beside(self.predators[predator], WAYS[action % 4])
        return cell in self.prey if action < 4 else on_map(cell)

    def step(self, actions, draws):
        actions = [
            action if self.allowed(predator, action) else STOP
            for predator, action in enumerate(actions)
        ]
        reward = 0
        for index, cell in enumerate(self.prey):
            catchers = [
                predator
                for predator, own in enumerate(self.predators)
                if own is not None
                and actions[predator] < 4
                and beside(own, WAYS[actions[predator]]) == cell
            ]
            if len(catchers) == 1:
                reward -= 1
            if len(catchers) >= 2:
                reward += 1
                self.prey[index] = None
                for predator in catchers[:2]:
                    self.predators[predator] = None
        for predator, action in enumerate(actions):
            if 4 <= action < 8 and self.predators[predator] is not None:
                self.move(self.predators, predator, WAYS[action - 4])
        for index, draw in enumerate(draws):
            if draw < 4 and self.prey[index] is not None:
                self.move(self.prey, index, WAYS[draw])
        return reward

    def move(self, bodies, index, way):
        cell = beside(bodies[index], way)
        if on_map(cell) and cell not in self.predators + self.prey:
            bodies[index] = cell

    def observation(self, predator):
        own = self.predators[predator]
        if own is None:
            return [0.0] * 70
        window = [beside(own, (row, column)) for row in range(-2, 3) for column in range(-2, 3)]
        there = [self.predators.index(c) + 1 if c in self.predators else 0 for c in window]
        prey = [cell in self.prey for cell in window]
        place = [own[axis] == number for axis in (0, 1) for number in range(10)]
        return [*map(float, [*there, *prey, *place])]

    def mask(self):
        return [[self.allowed(predator, action) for action in range(9)] for predator in range(10)]


@pytest.fixture(scope="module")
def pursuit():
    env = envs.make("pursuit")
    return env, jax.jit(env.reset), jax.jit(env.step)


def state_of(predators, prey, hunting=(True,) * 10, alive=(True,) * 5):
    return PursuitState(
        jnp.asarray(predators, jnp.int32),
        jnp.asarray(hunting),
        jnp.asarray(prey, jnp.int32),
        jnp.asarray(alive),
        jnp.int32(0),
    )


def catch_together(key, state, told):
    """Sees everyone: catch if another one can reach the same prey, else walk to the nearest."""
    del key
    ways, alive = jnp.asarray(WAYS, jnp.int32)[None], state.alive[None]
    apart = jnp.abs(state.predators[:, None] - state.prey[None]).sum(-1)
    reach = (apart == 1) & alive & state.hunting[:, None]
    pays = reach & (reach.sum(axis=0) >= 2)[None]
    prey = state.prey[jnp.argmax(pays, axis=1)][:, None]
    way = jnp.all(state.predators[:, None] + ways == prey, axis=-1).argmax(axis=1)
    nearest = state.prey[jnp.argmin(jnp.where(alive, apart, 99), axis=1)][:, None]
    steps = jnp.abs(state.predators[:, None] + ways - nearest).sum(-1)
    walk = jnp.argmin(jnp.where(told.mask[:, 4:8], steps, 99), axis=1) + 4
    return jnp.where(pays.any(axis=1), way, walk).astype(jnp.int32)


def test_it_plays_as_its_twin(pursuit):
    env, reset, step = pursuit
    generator, policy = np.random.default_rng(0), jax.jit(catch_together)
    rewards, ended = collections.Counter(), 0
    for episode in range(25):
        state, told = reset(jax.random.key(episode))
        twin = Twin(state.predators.tolist(), state.prey.tolist())
        assert len(set(twin.predators + twin.prey)) == 15
        for number in range(env.max_steps):
            assert told.mask.tolist() == twin.mask()
            seen = [twin.observation(predator) for predator in range(10)]
            assert told.observation.tolist() == seen
            assert told.state.tolist() == np.ravel(seen).tolist()
            # A good policy with mistakes, masked actions among them.
            actions = np.array(policy(None, state, told))
            actions = np.where(generator.random(10) < 0.3, generator.integers(0, 9, 10), actions)
            key = jax.random.fold_in(jax.random.key(episode), number)
            draws = jax.random.randint(key, (5,), 0, 5, jnp.int32).tolist()
            state, told = step(key, state, jnp.asarray(actions, jnp.int32))
            reward = twin.step(actions.tolist(), draws)
            assert float(told.reward) == reward
            rewards[reward] += 1
            caught = twin.prey.count(None)
            assert float(env.measures(state)["caught"]) == caught
            assert bool(told.terminated) == (caught == 5)
            if told.terminated:
                ended += 1
                break
        assert bool(told.truncated) == (number == env.max_steps - 1)
    assert rewards[1] > 20
    assert rewards[-1] > 20
    assert ended > 0


# Predators 0 to 3 around the prey at (5, 5), in the order of their actions; the others far off.
AROUND = [beside((5, 5), (-row, -column)) for row, column in WAYS]
FAR = [(0, column) for column in range(6)]
PREY = [(5, 5), (9, 0), (9, 2), (9, 4), (9, 6)]


@pytest.mark.parametrize(
    ("catching", "reward", "gone"),
    [([], 0, []), ([2], -1, []), ([1, 3], 1, [1, 3]), ([0, 1, 2, 3], 1, [0, 1])],
)
def test_two_catch_and_the_first_two_are_gone(pursuit, catching, reward, gone):
    actions = [number if number in catching else STOP for number in range(10)]
    state = state_of(AROUND + FAR, PREY)
    after, told = pursuit[2](jax.random.key(0), state, jnp.asarray(actions, jnp.int32))
    assert float(told.reward) == reward
    assert np.flatnonzero(~np.asarray(after.hunting)).tolist() == gone
    assert bool(after.alive[0]) == (not gone)
    assert not told.observation[jnp.asarray(gone, jnp.int32)].any()
    assert told.mask[:, :STOP].any(axis=1).tolist() == [n not in gone for n in range(10)]


def test_predators_move_in_the_order_of_their_numbers(pursuit):
    right = 4
    row = [(0, column) for column in range(10)]
    prey = [(9, column) for column in (0, 2, 4, 6, 8)]
    state = state_of([*row[1:9], (0, 0), (0, 9)], prey)  # number 8 is behind all others
    actions = jnp.asarray([right] * 8 + [right, STOP], jnp.int32)
    after, _ = pursuit[2](jax.random.key(0), state, actions)
    assert after.predators[:9].tolist() == state.predators[:9].tolist()  # a queue before number 9
    backwards = state_of([*row[8:0:-1], (0, 0), (5, 5)], prey)
    after, told = pursuit[2](jax.random.key(0), backwards, actions)
    assert after.predators[:9, 1].tolist() == list(range(9, 0, -1))
    x, y = pursuit[0].positions(told.observation, told.state).T
    assert x[:9].tolist() == list(range(9, 0, -1))
    assert y[:9].tolist() == [0] * 9


def test_a_predator_that_is_gone_is_in_no_ones_way_and_far_off(pursuit):
    hunting = [True, False, *[True] * 8]
    state = state_of([(0, 0), (0, 1), *[(2, c) for c in range(8)]], PREY, hunting)
    actions = jnp.full(10, STOP, jnp.int32).at[0].set(4)
    after, told = pursuit[2](jax.random.key(0), state, actions)
    assert after.predators[0].tolist() == [0, 1]
    positions = np.asarray(pursuit[0].positions(told.observation, told.state))
    assert np.abs(np.delete(positions, 1, axis=0) - positions[1]).max(axis=1).min() > 10


def nobody_catches(key, state, told):
    del key, state, told
    return jnp.full(10, STOP, jnp.int32)


def test_returns_of_known_policies(pursuit):
    env = pursuit[0]
    assert (policy_returns(env, nobody_catches, 8) == 0).all()
    together = policy_returns(env, catch_together, 512)
    assert together.max() == 5  # the bound
    assert_mean(together, 3.7, 0.05)
    assert_mean(random_returns(env, 2048), -14.3, 0.2)


def test_a_wrong_argument_is_explained():
    with pytest.raises(ValueError, match="max_steps must be at least 1, not 0"):
        envs.make("pursuit", max_steps=0)
