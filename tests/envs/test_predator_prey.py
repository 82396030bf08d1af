import collections

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import policy_returns, random_actions

from pairvdn import envs
from pairvdn.envs.predator_prey import PredatorPreyState

UP, DOWN, LEFT, RIGHT, STAY, CATCH = range(6)
SIZE = 5


@pytest.fixture(scope="module")
def small():
    """Three predators and two prey on a small map, and its step, compiled once."""
    env = envs.make("predator-prey", penalty=-1.5, num_predators=3, num_prey=2, size=SIZE)
    return env, jax.jit(env.step)


def state_of(predators, prey, hunting=(True, True, True), alive=(True, True)):
    return PredatorPreyState(
        predators=jnp.asarray(predators, jnp.int32),
        hunting=jnp.asarray(hunting),
        prey=jnp.asarray(prey, jnp.int32),
        alive=jnp.asarray(alive),
        steps=jnp.int32(0),
    )


def play(small, state, actions, seeds=1):
    """States and time steps of one step with several keys."""
    step = small[1]
    return [
        step(jax.random.key(seed), state, jnp.asarray(actions, jnp.int32)) for seed in range(seeds)
    ]


def test_two_that_catch_capture_and_leave(small):
    state = state_of([(2, 1), (2, 3), (0, 0)], [(2, 2), (4, 4)])
    for after, told in play(small, state, [CATCH, CATCH, STAY], seeds=5):
        assert float(told.reward) == 10
        assert after.hunting.tolist() == [False, False, True]
        assert after.alive.tolist() == [False, True]
        assert told.mask[:2].tolist() == [[False] * 4 + [True, False]] * 2
        assert not told.observation[:2].any()
        assert told.observation[2].any()
        assert not told.terminated


def test_one_that_catches_alone_is_punished_and_the_prey_moves(small):
    state = state_of([(2, 1), (2, 3), (0, 0)], [(2, 2), (4, 4)])
    moved = set()
    for after, told in play(small, state, [CATCH, STAY, STAY], seeds=20):
        assert float(told.reward) == -1.5
        assert after.hunting.all()
        assert after.alive.all()
        moved.add(tuple(after.prey[0].tolist()))
    assert moved == {(1, 2), (3, 2)}  # the predators are in the other two cells


def test_a_catch_with_no_prey_near_is_a_masked_stay(small):
    state = state_of([(0, 0), (0, 4), (4, 0)], [(2, 2), (4, 4)])
    for after, told in play(small, state, [CATCH, UP, LEFT], seeds=3):
        assert float(told.reward) == 0
        np.testing.assert_array_equal(after.predators, state.predators)
    mask = small[1](jax.random.key(0), state, jnp.full(3, STAY, jnp.int32))[1].mask
    assert mask[0].tolist() == [False, True, False, True, True, False]


def test_predators_are_blocked_in_a_random_order(small):
    # Two want the same cell: the first to move gets it. The third walks into a prey.
    state = state_of([(0, 0), (0, 2), (4, 3)], [(4, 4), (2, 4)])
    seen = collections.Counter()
    for after, _ in play(small, state, [RIGHT, LEFT, RIGHT], seeds=40):
        places = [tuple(place) for place in after.predators.tolist()]
        assert places[2] == (4, 3)
        assert (0, 1) in places
        seen[places.index((0, 1))] += 1
    assert min(seen[0], seen[1]) > 5


def test_those_who_left_are_in_nobodys_way(small):
    state = state_of(
        [(0, 0), (0, 1), (4, 0)], [(0, 2), (4, 4)], hunting=(True, False, True), alive=(False, True)
    )
    after, _ = play(small, state, [RIGHT, STAY, RIGHT])[0]
    assert after.predators.tolist() == [[0, 1], [0, 1], [4, 1]]
    after, told = play(small, after, [RIGHT, STAY, STAY])[0]
    assert after.predators[0].tolist() == [0, 2]
    assert not told.mask[0, CATCH]  # the prey that left cannot be caught


def test_prey_with_nowhere_to_go_stays_and_the_last_capture_ends(small):
    state = state_of([(0, 1), (1, 0), (4, 4)], [(0, 0), (3, 3)], alive=(True, False))
    after, told = play(small, state, [STAY, STAY, STAY])[0]
    assert after.prey[0].tolist() == [0, 0]
    assert not told.terminated
    _, told = play(small, state, [CATCH, CATCH, STAY])[0]
    assert told.terminated


def x_and_y(cells):
    rows, columns = np.asarray(cells).T
    return np.stack([columns, -rows], axis=1)


def test_positions_come_from_the_state_and_those_who_left_are_far(small):
    env = small[0]
    state = state_of([(2, 1), (2, 3), (0, 0)], [(2, 2), (4, 4)])
    after, told = play(small, state, [CATCH, CATCH, STAY])[0]
    places = np.asarray(env.positions(told.observation, told.state))
    np.testing.assert_allclose(places[2], x_and_y(after.predators)[2], atol=1e-5)
    assert (np.linalg.norm(places[:2] - places[2], axis=1) > 2 * SIZE).all()
    after, told = play(small, state, [STAY, STAY, RIGHT])[0]
    np.testing.assert_allclose(
        env.positions(told.observation, told.state), x_and_y(after.predators), atol=1e-5
    )


def windows(state, size):
    """What everyone sees, by a plain search."""
    seen = np.zeros((len(state.hunting), 2, 5, 5))
    for agent, (row, column) in enumerate(state.predators.tolist()):
        for plane, (places, present) in enumerate(
            [(state.predators, state.hunting), (state.prey, state.alive)]
        ):
            for (r, c), is_there in zip(places.tolist(), present.tolist(), strict=True):
                if is_there and max(abs(r - row), abs(c - column)) <= 2:
                    seen[agent, plane, r - row + 2, c - column + 2] = state.hunting[agent]
    return seen.reshape(len(seen), -1)


def test_a_random_episode_keeps_every_rule():
    env = envs.make("predator-prey", penalty=-2)

    def act(carry, key):
        state, told = carry
        keys = jax.random.split(key)
        actions = random_actions(keys[0], state, told)
        after, told = env.step(keys[1], state, actions)
        return (after, told), (state, actions, after, told)

    start = env.reset(jax.random.key(3))
    keys = jax.random.split(jax.random.key(4), 200)
    records = jax.device_get(jax.jit(lambda: jax.lax.scan(act, start, keys)[1])())
    captures = 0
    for time in range(200):
        before, actions, after, told = jax.tree.map(lambda leaf, t=time: leaf[t], records)
        present = np.concatenate([after.hunting, after.alive])
        cells = np.concatenate([after.predators, after.prey])
        assert ((cells >= 0) & (cells < 10)).all()
        assert len({tuple(cell) for cell in cells[present].tolist()}) == present.sum()
        assert (np.abs(after.predators - before.predators).sum(axis=1) <= (actions < STAY)).all()
        assert (np.abs(after.prey - before.prey).sum(axis=1) <= 1).all()
        assert not (after.hunting & ~before.hunting).any()
        assert not (after.alive & ~before.alive).any()
        captured = int((before.alive & ~after.alive).sum())
        left = before.hunting & ~after.hunting
        assert left.sum() >= 2 * captured
        assert (actions[left] == CATCH).all()
        missed = (10 * captured - float(told.reward)) / 2
        assert missed == int(missed) >= 0
        np.testing.assert_array_equal(told.observation, windows(after, 10))
        captures += captured
        if told.terminated:
            break
    assert captures > 0


def test_those_who_catch_only_together_reach_the_best_return():
    env = envs.make("predator-prey", penalty=-2, size=6)

    def catch_together(key, state, told):
        """Catch where two predators are next to the same prey, else move at random."""
        near = (jnp.abs(state.predators[:, None] - state.prey[None]).sum(axis=-1) == 1) & (
            state.alive[None] & state.hunting[:, None]
        )
        together = (near & (near.sum(axis=0) >= 2)[None]).any(axis=1)
        moving = eqx.tree_at(lambda t: t.mask, told, told.mask.at[:, CATCH].set(False))
        return jnp.where(together, CATCH, random_actions(key, state, moving))

    returns = policy_returns(env, catch_together, 64)
    assert returns.max() == 40
    assert returns.mean() > 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"penalty": 1.0}, "penalty must be a finite number of at most 0, not 1.0"),
        ({"num_predators": 1}, "num_predators must be at least 2"),
        ({"num_prey": 0}, "num_prey must be at least 1"),
        ({"size": 3}, r"must be at most size \* size = 9, the number of cells, not 16"),
    ],
)
def test_a_wrong_argument_is_explained(arguments, message):
    with pytest.raises(ValueError, match=message):
        envs.make("predator-prey", **arguments)
