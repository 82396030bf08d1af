import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn import envs
from pairvdn.envs.one_step import best_on_ring, draw_ring_tables


def payoffs(game):
    """Every joint action with its reward, from `step` itself."""
    joint = np.array(
        list(itertools.product(range(game.num_actions), repeat=game.num_agents)), np.int32
    )
    key = jax.random.key(0)
    state, _ = jax.jit(game.reset)(key)
    paid = jax.jit(jax.vmap(lambda actions: game.step(key, state, actions)[1].reward))
    rewards = np.asarray(paid(joint))
    return {
        tuple(map(int, actions)): float(reward)
        for actions, reward in zip(joint, rewards, strict=True)
    }


TABLES = {
    "climbing": ({}, [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]),
    "penalty": ({"k": -25}, [[-25, 0, 10], [0, 2, 0], [10, 0, -25]]),
    "qtran": ({}, [[8, -12, -12], [-12, 0, 0], [-12, 0, 0]]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_matrix_game_pays_its_table(name):
    arguments, table = TABLES[name]
    game = envs.make(name, **arguments)
    assert payoffs(game) == {(u, v): table[u][v] for u in range(3) for v in range(3)}
    assert game.best_reward == np.max(table)


def ring_edges(n):
    return [(i, (i + 1) % n) for i in range(n)]


def wall(actions):
    return {0: 0, len(actions): 1}.get(sum(actions), -1)


def wall_graded(actions):
    both = sum(actions[i] and actions[j] for i, j in ring_edges(len(actions)))
    return (2 * both - sum(actions)) / len(actions)


def crossroads(actions):
    return sum(actions) - 10 * sum(actions[i] and actions[j] for i, j in ring_edges(len(actions)))


def crossroads_all(actions):
    return sum(actions) - 10 * sum(u and v for u, v in itertools.combinations(actions, 2))


@pytest.mark.parametrize(
    "num_agents", [2, 5, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 4, 6))]
)
@pytest.mark.parametrize(
    ("name", "rule", "best"),
    [
        ("wall", wall, lambda n: 1),
        ("wall-graded", wall_graded, lambda n: 1),
        ("crossroads", crossroads, lambda n: n // 2),
        ("crossroads-all", crossroads_all, lambda n: 1),
    ],
)
def test_a_game_of_two_actions_pays_by_its_rule(name, rule, best, num_agents):
    game = envs.make(name, num_agents=num_agents)
    paid = payoffs(game)
    for actions, reward in paid.items():
        assert reward == pytest.approx(rule(actions), abs=1e-6), actions
    assert game.best_reward == best(num_agents) == pytest.approx(max(paid.values()))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]
)
@pytest.mark.parametrize(("num_agents", "num_actions"), [(2, 2), (3, 3), (4, 3), (5, 4)])
def test_a_ring_game_has_one_best_joint_action(num_agents, num_actions, seed):
    game = envs.make("ring-game", num_agents=num_agents, num_actions=num_actions, seed=seed)
    tables, _ = draw_ring_tables(num_agents, num_actions, seed)
    assert tables.min() >= 0
    assert tables.max() <= 9
    paid = payoffs(game)
    for actions, reward in paid.items():
        edges = enumerate(ring_edges(num_agents))
        assert reward == sum(tables[e, actions[i], actions[j]] for e, (i, j) in edges)
    assert sorted(paid.values())[-1] == game.best_reward > sorted(paid.values())[-2]


@pytest.mark.parametrize("seed", range(20))
def test_ties_on_a_ring_are_counted_as_enumeration_counts_them(seed):
    # Integers 0..2 tie often: this is where a wrong count would show.
    generator = np.random.default_rng(seed)
    tables = generator.integers(0, 3, size=(int(generator.integers(2, 5)), 3, 3))
    sums = [
        sum(tables[e, joint[i], joint[j]] for e, (i, j) in enumerate(ring_edges(len(tables))))
        for joint in itertools.product(range(3), repeat=len(tables))
    ]
    assert best_on_ring(tables) == (max(sums), min(sums.count(max(sums)), 2))


def test_a_ring_game_is_fixed_by_its_seed():
    first, again, other = (envs.make("ring-game", seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_a_ring_too_long_for_a_unique_optimum_is_refused():
    with pytest.raises(ValueError, match="use fewer agents"):
        draw_ring_tables(num_agents=200, num_actions=9, seed=0, max_draws=3)


def test_an_episode_terminates_after_one_step():
    game = envs.make("climbing")
    state, start = game.reset(jax.random.key(0))
    assert not start.terminated
    assert state.actions.tolist() == [-1, -1]
    state, end = jax.jit(game.step)(jax.random.key(1), state, jnp.array([0, 0], jnp.int32))
    assert end.terminated
    assert not end.truncated
    assert state.actions.tolist() == [0, 0]
    assert end.agent_rewards.tolist() == [5.5, 5.5]


def test_a_scene_shows_what_everyone_chose():
    game = envs.make("crossroads", num_agents=3)
    state, _ = game.reset(jax.random.key(0))
    before = game.scene(state).circles.colour
    state, _ = game.step(jax.random.key(0), state, jnp.array([0, 1, 0], jnp.int32))
    after = game.scene(state).circles.colour
    assert (before == before[:1]).all()
    assert (after[0] == after[2]).all()
    assert (after[0] != after[1]).any()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("wall", {"num_agents": 1}, "num_agents must be at least 2, not 1"),
        ("wall-graded", {"num_agents": 0}, "num_agents must be at least 2"),
        ("crossroads", {"num_agents": -1}, "num_agents must be at least 2"),
        ("crossroads-all", {"num_agents": 1}, "num_agents must be at least 2"),
        ("ring-game", {"num_actions": 1}, "num_actions must be at least 2"),
        ("ring-game", {"seed": -1}, "seed must be at least 0"),
        ("penalty", {"k": 1.0}, "k must be a finite number of at most 0"),
        ("penalty", {"k": float("nan")}, "k must be a finite number of at most 0"),
    ],
)
def test_a_wrong_argument_is_explained(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        envs.make(name, **arguments)
