import collections
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import policy_returns, random_returns

from pairvdn import envs
from pairvdn.envs.gather import GatherState, vote

GOALS = [(1, 0), (1, 2), (1, 4)]
UP, DOWN, LEFT, RIGHT, STAY = range(5)
CELLS = list(itertools.product(range(3), range(5)))


def steps(cell, goal):
    return abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])


def test_everyone_votes_for_the_nearest_goal():
    votes = np.asarray(vote(jnp.asarray(CELLS, jnp.int32)))
    for cell, chosen in zip(CELLS, votes, strict=True):
        away = [steps(cell, goal) for goal in GOALS]
        expected = 0 if away[0] < away[1] else 2 if away[2] <= away[1] else 1
        assert chosen == expected, cell
    assert set(votes.tolist()) == {0, 1, 2}


def test_the_goal_with_most_votes_is_the_true_one_and_known_to_its_voters():
    keys = jax.random.split(jax.random.key(0), 400)
    states = jax.jit(jax.vmap(lambda key: envs.make("gather").reset(key)[0]))(keys)
    all_votes = np.asarray(jax.jit(jax.vmap(vote))(states.agents)).tolist()
    ties = 0
    for votes, goal, informed in zip(
        all_votes, np.asarray(states.goal), np.asarray(states.informed), strict=True
    ):
        counts = [votes.count(g) for g in range(3)]
        assert goal == counts.index(max(counts))
        assert informed.tolist() == [v == goal for v in votes]
        ties += counts.count(max(counts)) > 1
    assert ties > 10
    seen = collections.Counter(map(tuple, np.asarray(states.agents).reshape(-1, 2).tolist()))
    assert set(seen) == set(CELLS)


@pytest.fixture(scope="module")
def gather():
    env = envs.make("gather")
    return env, jax.jit(env.step)


def state_of(agents, goal=1, steps=0):
    informed = jnp.array([True, True, True, False, False])
    agents = jnp.asarray(agents, jnp.int32)
    return GatherState(agents, jnp.int32(goal), informed, jnp.int32(steps))


A, TRUE, B, ELSEWHERE = (1, 0), (1, 2), (1, 4), (0, 3)


@pytest.mark.parametrize(
    ("agents", "early", "late"),
    [
        ([TRUE] * 5, 10, 10),
        ([A] * 5, 0, 5),
        ([A, A, B, B, A], 0, 5),
        ([TRUE] * 4 + [A], 0, -5),
        ([TRUE] + [A] * 4, 0, -5),
        ([TRUE] + [ELSEWHERE] * 4, 0, -5),
        ([A] * 4 + [ELSEWHERE], 0, 0),
        ([ELSEWHERE] * 5, 0, 0),
    ],
)
def test_where_everyone_is_decides_the_reward(gather, agents, early, late):
    key, stay = jax.random.key(0), jnp.full(5, STAY, jnp.int32)
    for before, reward, last in ((0, early, False), (7, late, True)):
        _, told = gather[1](key, state_of(agents, steps=before), stay)
        assert float(told.reward) == reward
        assert bool(told.truncated) == last
        assert bool(told.terminated) == (last or reward == 10)
    assert float(gather[0].measures(state_of(agents))["won"]) == (early == 10)


def test_everyone_moves_at_once_and_walls_hold(gather):
    state = state_of([(0, 0), (0, 0), (2, 4), (2, 4), (1, 2)])
    after, told = gather[1](
        jax.random.key(0), state, jnp.array([UP, RIGHT, DOWN, LEFT, STAY], jnp.int32)
    )
    assert after.agents.tolist() == [[0, 0], [0, 1], [2, 4], [2, 3], [1, 2]]
    assert told.observation.tolist() == [
        [0, 0, 1, 2],
        [0, 1, 1, 2],
        [2, 4, 1, 2],
        [2, 3, -1, -1],
        [1, 2, -1, -1],
    ]
    assert told.state.tolist() == [0, 0, 1, 0, 1, 1, 2, 4, 1, 2, 3, 0, 1, 2, 0, 1, 2]
    assert gather[0].positions(told.observation, told.state).tolist() == [
        [column, -row] for row, column in after.agents.tolist()
    ]


def test_practice_may_pay_for_every_step_towards_the_true_goal(gather):
    env = envs.make("gather", approach_reward=0.5)
    state = state_of([(0, 0), (1, 0), (2, 2), TRUE, (1, 3)])
    actions = jnp.array([RIGHT, LEFT, UP, RIGHT, STAY], jnp.int32)
    after, told = jax.jit(env.step)(jax.random.key(0), state, actions)  # 1 nearer + 0 + 1 - 1 + 0
    assert float(told.reward) == 0.5
    back = jnp.array([LEFT, STAY, DOWN, LEFT, STAY], jnp.int32)
    assert float(jax.jit(env.step)(jax.random.key(0), after, back)[1].reward) == -0.5
    assert float(gather[1](jax.random.key(0), state, actions)[1].reward) == 0


def walk_to_the_true_goal(key, state, told):
    row, column = (jnp.asarray(GOALS, jnp.int32)[state.goal][None] - state.agents).T
    sideways = jnp.where(column < 0, LEFT, jnp.where(column > 0, RIGHT, STAY))
    return jnp.where(row < 0, UP, jnp.where(row > 0, DOWN, sideways)).astype(jnp.int32)


def test_who_knows_the_goal_always_wins(gather):
    returns = policy_returns(gather[0], walk_to_the_true_goal, 512)
    assert (returns == 10).all()
    assert random_returns(gather[0], 512).mean() < 0


def test_a_wrong_argument_is_explained():
    with pytest.raises(ValueError, match="num_agents must be at least 2, not 1"):
        envs.make("gather", num_agents=1)
    with pytest.raises(ValueError, match="approach_reward must be a finite number of at least 0"):
        envs.make("gather", approach_reward=-1)
