"""What agents would do alone: VDN's best approximation of a pair-wise value."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn import envs, maximise, values
from pairvdn.evaluation.explanation import additive_baseline, additive_part, explain
from pairvdn.values import Pairs

AGENTS, ACTIONS = 3, 3


def problem(seed: int) -> tuple[Pairs, jax.Array]:
    keys = jax.random.split(jax.random.key(seed), 3)
    pairs = Pairs(
        edges=jnp.array([[0, 1], [2, 1], [1, 2]], jnp.int32),
        payoffs=jax.random.normal(keys[0], (3, ACTIONS, ACTIONS)),
        utilities=jax.random.normal(keys[1], (AGENTS, ACTIONS)),
    )
    mask = jax.random.bernoulli(keys[2], 0.7, (AGENTS, ACTIONS)).at[:, 0].set(True)
    return pairs, mask


def joint_values(pairs: Pairs) -> dict[tuple[int, ...], float]:
    payoffs, utilities = np.asarray(pairs.payoffs), np.asarray(pairs.utilities)
    return {
        actions: sum(
            payoffs[e, actions[i], actions[j]] for e, (i, j) in enumerate(pairs.edges.tolist())
        )
        + sum(utilities[agent, action] for agent, action in enumerate(actions))
        for actions in itertools.product(range(ACTIONS), repeat=AGENTS)
    }


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_additive_value_with_the_least_squared_error(seed: int) -> None:
    pairs, mask = problem(seed)
    allowed = {
        actions: value
        for actions, value in joint_values(pairs).items()
        if all(mask[agent, action] for agent, action in enumerate(actions))
    }
    features = np.zeros((len(allowed), AGENTS * ACTIONS))
    for row, actions in enumerate(allowed):
        features[row, np.arange(AGENTS) * ACTIONS + np.array(actions)] = 1
    fit = features @ np.linalg.lstsq(features, np.array(list(allowed.values())), rcond=None)[0]
    ours = features @ np.asarray(additive_part(pairs, mask)).ravel()
    assert np.allclose(fit - fit.mean(), ours - ours.mean(), atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_additive_tables_need_no_coordination(seed: int) -> None:
    pairs, mask = problem(seed)
    rows, columns = pairs.payoffs[:, :, :1], pairs.payoffs[:, :1, :]
    additive = Pairs(pairs.edges, jnp.add(*jnp.broadcast_arrays(rows, columns)), pairs.utilities)
    best = maximise.brute_force(
        additive.payoffs, additive.edges, utilities=additive.utilities, mask=mask
    )
    compared = additive_baseline(additive, mask, best.actions)
    assert not compared.coordinated.any()
    assert float(compared.value) == pytest.approx(float(best.value), abs=1e-5)


def climbing() -> Pairs:
    """The climbing game: additive_baseline, both avoid the row and column of the -30."""
    table = jnp.array([[11.0, -30.0, 0.0], [-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]])
    return Pairs(jnp.array([[0, 1]], jnp.int32), table[None], None)


def test_the_climbing_game_needs_coordination() -> None:
    compared = additive_baseline(climbing(), jnp.ones((2, 3), bool), jnp.array([0, 0], jnp.int32))
    assert compared.actions.tolist() == [2, 2]
    assert float(compared.value) == 5.0
    assert compared.coordinated.tolist() == [True, True]


def test_what_is_not_allowed_counts_for_nothing() -> None:
    mask = jnp.array([[True, False, True], [True, True, True]])
    compared = additive_baseline(climbing(), mask, jnp.array([0, 0], jnp.int32))
    assert compared.actions.tolist() == [2, 0]  # without its -30, column 0 has the best mean
    assert compared.coordinated.tolist() == [True, False]


def test_another_joint_action_of_the_same_worth_is_no_coordination() -> None:
    pairs = Pairs(jnp.array([[0, 1]], jnp.int32), jnp.ones((1, 2, 2)), None)
    compared = additive_baseline(pairs, jnp.ones((2, 2), bool), jnp.array([1, 1], jnp.int32))
    assert not compared.coordinated.any()


def test_an_agent_without_others_is_alone() -> None:
    pairs = Pairs(jnp.zeros((1, 2), jnp.int32), jnp.array([[[1.0, 9.0], [9.0, 2.0]]]), None)
    compared = additive_baseline(pairs, jnp.ones((1, 2), bool), jnp.array([1], jnp.int32))
    assert compared.actions.tolist() == [1]
    assert float(compared.value) == 2.0


def test_without_an_allowed_action_there_is_nothing_to_compare() -> None:
    mask = jnp.array([[False, False, False], [True, True, True]])
    compared = additive_baseline(climbing(), mask, jnp.array([-1, -1], jnp.int32))
    assert np.isnan(compared.value)
    assert not compared.coordinated.any()


def test_an_approximate_maximum_has_a_bound_and_the_partners_that_count() -> None:
    env = envs.make("crossroads", num_agents=4)
    _, timestep = env.reset(jax.random.key(0))
    found = {}
    for method in ("pairvdn-learned", "dcg"):
        value = values.make(method, env.spec, key=jax.random.key(1), hidden_sizes=(8,))
        found[method] = explain(env, value, value.encoder.init_carry(), timestep)
    learned = found["pairvdn-learned"]
    assert learned.bound >= learned.value[0] - 1e-5
    assert sorted(learned.edges[:, 0].tolist()) == [0, 1, 2, 3]  # each agent counts a partner
    assert found["dcg"].bound is None  # exact, by elimination
