"""CASEC: what its value is made of, which pairs it keeps, and its own term of the loss."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from value_examples import build, inputs, spec

from pairvdn.values import Inputs, penalty
from pairvdn.values.all_pairs import AllPairs


def without_pairs(value):
    """The same value with δ = 0."""
    layer = value.heads.output
    zero = jax.tree.map(jnp.zeros_like, layer)
    return eqx.tree_at(lambda v: v.heads.output, value, zero)


@pytest.mark.parametrize("num_agents", [2, 3, 6])
@pytest.mark.parametrize("normalise", [False, True])
def test_utilities_count_three_times_with_the_gradient_of_once(num_agents, normalise):
    """As in the original, for any number of agents: pairs repeat utilities without gradient."""
    sizes = spec(num_agents=num_agents)
    value = without_pairs(build("casec", sizes, normalise=normalise))
    seen, actions = inputs(sizes), jnp.zeros(num_agents, jnp.int32)

    def plain(value):
        own = value.heads.utilities(value.heads.hidden(Inputs(*seen)))
        return own[:, 0].sum() / (num_agents if normalise else 1)

    def worth(value):
        return value.evaluate(value.tables(*seen), actions)[0]

    np.testing.assert_allclose(worth(value), 3 * plain(value), rtol=1e-5)
    slopes = [eqx.filter_grad(one)(value) for one in (worth, plain)]
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6),
        slopes[0].heads.own,
        slopes[1].heads.own,
    )


def test_utilities_do_not_decide_which_pairs_are_kept():
    """Variances are those of δ: the agent with the largest utilities gets no pairs for them."""
    sizes = spec(num_agents=4)
    tables = without_pairs(build("casec", sizes)).tables(*inputs(sizes))
    assert float(jnp.abs(tables.utilities).max()) > 0
    np.testing.assert_array_equal(tables.payoffs, 0)


def test_the_mean_and_the_sum_are_the_same_value():
    """Both forms agree up to the factor n if the network's tables differ by 2 / (n - 1)."""
    sizes = spec(num_agents=4)
    plain, divided = (build("casec", sizes, normalise=one) for one in (False, True))
    larger = jax.tree.map(lambda x: x * 3 / 2, divided.heads.output)
    divided = eqx.tree_at(lambda v: v.heads.output, divided, larger)
    actions = jnp.array([0, 1, 2, 0], jnp.int32)
    seen = inputs(sizes)
    sums, means = (v.evaluate(v.tables(*seen), actions)[0] for v in (plain, divided))
    np.testing.assert_allclose(sums, 4 * means, rtol=1e-5)
    np.testing.assert_allclose(*(penalty(v, v.tables(*seen)) for v in (plain, divided)), rtol=1e-5)


def test_the_penalty_is_the_mean_variance():
    rng = np.random.default_rng(0)
    payoffs = rng.normal(size=(3, 3, 2, 2)).astype(np.float32)
    value = build("casec", spec(num_agents=3, num_actions=2), variance_weight=0.5)
    tables = AllPairs(jnp.zeros((3, 2)), jnp.asarray(payoffs))
    rows = [payoffs[i, j, x].var() for i in range(3) for j in range(3) if i != j for x in range(2)]
    np.testing.assert_allclose(penalty(value, tables), 0.5 * np.mean(rows), rtol=1e-5)
    assert float(penalty(build("vdn"), jnp.zeros((3, 3)))) == 0
