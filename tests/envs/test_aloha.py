import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import assert_mean, policy_returns, random_returns
from unchecked_types import unchecked_types

from pairvdn import envs
from pairvdn.envs.aloha import AlohaState

GRAPHS = ("original", "grid", "ring")


def edges(graph):
    line = {(i, i + 1) for i in range(9)}
    rungs = {(i, i + 5) for i in range(5)}
    return {
        "original": line | rungs,
        "grid": (line | rungs) - {(4, 5)},
        "ring": line | {(9, 0)},
    }[graph]


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_step_is_that_of_a_plain_count(graph):
    env, generator = envs.make("aloha", graph=graph), np.random.default_rng(0)
    step = jax.jit(env.step)
    arrivals = []
    for seed in range(60):
        queues, actions = generator.integers(0, 6, 10), generator.integers(0, 2, 10)
        rewards, left = [], queues.copy()
        for station in range(10):
            linked = {i for edge in edges(graph) if station in edge for i in edge} - {station}
            reward = 0.0
            if actions[station] and queues[station]:
                reward = -10.0 if any(actions[i] for i in linked) else 0.1
            left[station] -= reward > 0
            rewards.append(reward)
        state = AlohaState(jnp.asarray(queues, jnp.int32), jnp.int32(3))
        after, told = step(jax.random.key(seed), state, jnp.asarray(actions, jnp.int32))
        np.testing.assert_allclose(told.agent_rewards, rewards, rtol=1e-6)
        np.testing.assert_allclose(told.reward, sum(rewards), rtol=1e-5, atol=1e-6)
        grown = np.asarray(after.queues) - left
        assert set(grown[left == 5]) <= {0}
        assert set(grown) <= {0, 1}
        arrivals.extend(grown[left < 5])
        np.testing.assert_array_equal(told.state, after.queues)
        np.testing.assert_array_equal(told.observation[:, 0], after.queues)
    assert abs(np.mean(arrivals) - 0.6) < 4 * np.sqrt(0.24 / len(arrivals))


def test_every_queue_starts_with_one_message():
    state, _ = envs.make("aloha").reset(jax.random.key(0))
    assert state.queues.tolist() == [1] * 10


@pytest.mark.parametrize(
    ("graph", "expected"), [("original", -842), ("grid", -815), ("ring", -740)]
)
def test_a_random_policy_returns_what_is_known(graph, expected):
    # The known numbers are rounded, and estimates too.
    assert_mean(random_returns(envs.make("aloha", graph=graph), 2048), expected, its_error=1.0)


def parity_class(which):
    return (jnp.arange(10, dtype=jnp.int32) % 2 == which).astype(jnp.int32)


def alternate(key, state, time_step):
    return parity_class(state.steps % 2)


def fuller_class(key, state, time_step):
    waiting = (state.queues > 0).reshape(5, 2).sum(axis=0)
    return parity_class(jnp.argmax(waiting).astype(jnp.int32))


@pytest.mark.parametrize(("policy", "expected"), [(alternate, 9.55), (fuller_class, 9.69)])
def test_taking_turns_returns_what_is_known(policy, expected):
    returns = policy_returns(envs.make("aloha"), policy, 2048)
    assert_mean(returns, expected, its_error=0.005)
    assert returns.max() <= 10 + 1e-4


def test_idling_returns_nothing():
    returns = policy_returns(envs.make("aloha"), lambda *_: jnp.zeros(10, jnp.int32), 2)
    assert (returns == 0).all()


def test_an_unknown_graph_is_explained():
    with (
        pytest.raises(ValueError, match="graph must be one of original, grid, ring, not 'line'"),
        unchecked_types(),
    ):
        envs.make("aloha", graph="line")
