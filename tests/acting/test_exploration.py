"""Schedules of epsilon, the random choice, and the answers of others to it."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn import envs, values
from pairvdn.acting import EpsilonGreedyPolicy, GreedyPolicy
from pairvdn.acting.exploration import LinearEpsilon, SpreadEpsilon, explorers, random_actions


def test_linear_epsilon_reaches_both_ends_exactly_and_stays() -> None:
    schedule = LinearEpsilon(1.0, 0.05, epochs=100)
    at = [float(schedule.epsilons(jnp.int32(epoch), 1)[0]) for epoch in (0, 33, 66, 99, 500)]
    assert at == pytest.approx([1.0, 1 - 0.95 / 3, 1 - 2 * 0.95 / 3, 0.05, 0.05])


def test_one_epoch_explores_as_at_the_start() -> None:
    assert LinearEpsilon(0.7, 0.1, epochs=1).epsilons(jnp.int32(0), 2).tolist() == pytest.approx(
        [0.7, 0.7]
    )


def test_spread_epsilon_differs_between_environments_and_not_between_epochs() -> None:
    schedule = SpreadEpsilon(0.4, 6.0)
    expected = [0.4**1, 0.4**3, 0.4**5, 0.4**7]
    assert schedule.epsilons(jnp.int32(0), 4).tolist() == pytest.approx(expected)
    assert schedule.epsilons(jnp.int32(9), 4).tolist() == pytest.approx(expected)
    assert schedule.epsilons(jnp.int32(0), 1).tolist() == pytest.approx([0.4])


def test_random_actions_are_uniform_over_the_allowed_ones() -> None:
    mask = jnp.array([[True, False, True, True], [False, True, False, False]])
    keys = jax.random.split(jax.random.key(0), 6_000)
    actions = jax.vmap(lambda key: random_actions(key, mask))(keys)
    counts = jnp.bincount(actions[:, 0], length=4).tolist()
    assert counts[1] == 0
    # Standard deviation of each count: sqrt(6000 * 1/3 * 2/3) = 36.5.
    assert all(abs(count - 2_000) < 150 for count in (counts[0], counts[2], counts[3]))
    assert set(actions[:, 1].tolist()) == {1}


@pytest.mark.parametrize(("epsilon", "share"), [(0.0, 0.0), (1.0, 0.75), (0.4, 0.3)])
def test_each_agent_explores_on_its_own(epsilon: float, share: float) -> None:
    """A random one of 4 actions differs from the greedy one in 3 of 4 cases."""
    mask = jnp.ones((2, 4), jnp.bool_)
    keys = jax.random.split(jax.random.key(0), 10_000)
    explores, drawn = jax.vmap(lambda key: explorers(key, mask, jnp.float32(epsilon)))(keys)
    differs = explores & (drawn != 0)
    assert float(differs.mean()) == pytest.approx(share, abs=0.015)
    both = float((differs[:, 0] & differs[:, 1]).mean())
    assert both == pytest.approx(share**2, abs=0.025)  # independent


def _actions(method: str, *, answered: bool, seed: int = 0) -> tuple[Any, jax.Array]:
    """A value of random weights for the crossroads of five, and 300 exploring joint actions."""
    epsilon = jnp.float32(0.5)
    env = envs.make("crossroads", num_agents=5)
    value = values.make(
        method, env.spec, hidden_sizes=(16,), final_scale=10.0, key=jax.random.key(seed)
    )
    policy = EpsilonGreedyPolicy(GreedyPolicy(env, value), epsilon, answered)
    timestep = env.reset(jax.random.key(0))[1]

    @jax.jit
    @jax.vmap
    def act(key: jax.Array) -> tuple[jax.Array, ...]:
        acted = policy.act(key, policy.init(key), timestep)[0]
        return acted, *explorers(key, timestep.mask, epsilon)

    actions, *drawn = act(jax.random.split(jax.random.key(1), 300))
    return (value, timestep, *drawn), actions


@pytest.mark.parametrize(("method", "seed"), [("pairvdn", 0), ("dcg", 1)])
def test_others_answer_random_actions(method: str, seed: int) -> None:
    """No joint action with the same random ones has a larger value: all are tried."""
    (value, timestep, explores, drawn), actions = _actions(method, answered=True, seed=seed)
    assert (_actions(method, answered=False, seed=seed)[1] != actions).any()  # there are answers
    tables = eqx.filter_jit(value.tables_of)(timestep.observation, timestep.state, None)
    joint = np.array(list(itertools.product(range(2), repeat=5)), np.int32)
    evaluate = jax.jit(jax.vmap(lambda one: value.evaluate(tables, one).sum()))
    every = np.asarray(evaluate(jnp.asarray(joint)))
    found, explores, drawn = np.asarray(actions), np.asarray(explores), np.asarray(drawn)
    assert (found == drawn)[explores].all()
    contains = ((joint[None] == drawn[:, None]) | ~explores[:, None]).all(axis=2)
    best = np.where(contains, every[None], -np.inf).max(axis=1)
    np.testing.assert_allclose(evaluate(actions), best, atol=1e-5)


def test_without_answers_the_others_act_as_if_nobody_explored() -> None:
    (value, timestep, explores, drawn), actions = _actions("pairvdn", answered=False)
    tables = eqx.filter_jit(value.tables_of)(timestep.observation, timestep.state, None)
    greedy, _ = eqx.filter_jit(value.greedy)(tables, timestep.mask)
    assert (actions == jnp.where(explores, drawn, greedy[None])).all()


@pytest.mark.parametrize("method", ["iql", "vdn", "qmix", "qplex"])
def test_agents_that_maximise_alone_have_no_answers(method: str) -> None:
    with_answers, without = (_actions(method, answered=answered)[1] for answered in (True, False))
    assert (with_answers == without).all()


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"end must be from 0 to 1, not 1\.5"):
        LinearEpsilon(1.0, 1.5)
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        LinearEpsilon(epochs=0)
    with pytest.raises(ValueError, match="base must be from 0 to 1"):
        SpreadEpsilon(2.0)
