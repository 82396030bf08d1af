"""QPLEX: a duplex dueling mixture of utilities."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from value_examples import best_by_enumeration, build, inputs, joint_actions, spec

SIZES = spec()
ALL = jnp.ones((SIZES.num_agents, SIZES.num_actions), dtype=bool)


def stirred(seed):
    """Parameters far from their start, so that weights differ between joint actions."""
    value = build("qplex", seed=seed)
    return jax.tree.map(lambda x: 3 * x if eqx.is_inexact_array(x) else x, value)


def test_the_best_actions_of_single_agents_are_the_best_joint_action():
    for seed in range(5):
        value = stirred(seed)
        tables = value.tables(*inputs(seed=seed))
        actions, best = value.greedy(tables, ALL)
        np.testing.assert_array_equal(actions, jnp.argmax(tables.utilities, axis=1))
        np.testing.assert_allclose(best[0], best_by_enumeration(value, tables, ALL), rtol=1e-5)
        np.testing.assert_allclose(best[0], tables.utilities.max(axis=1).sum(), rtol=1e-5)


def test_weights_depend_on_the_joint_action():
    """The loss of one agent's wrong action depends on the action of another."""
    value = stirred(0)
    tables = value.tables(*inputs())
    worth = jax.vmap(lambda actions: value.evaluate(tables, actions)[0])(joint_actions())
    table = np.asarray(worth).reshape(3, 3, 3)
    mixed = table[1:, 1:] - table[:1, 1:] - table[1:, :1] + table[:1, :1]
    assert np.abs(mixed).max() > 1e-3


def test_weights_start_near_one_for_any_number_of_heads():
    for heads in (1, 4, 8):
        value = build("qplex", attention_heads=heads)
        tables = value.tables(*inputs())
        actions = jnp.argmin(tables.utilities, axis=1).astype(jnp.int32)
        lost = tables.utilities.max(axis=1).sum() - value.evaluate(tables, actions)[0]
        plain = (tables.utilities.max(axis=1) - tables.utilities.min(axis=1)).sum()
        np.testing.assert_allclose(lost, plain, rtol=0.2)


def test_the_gradient_to_the_utilities_is_that_of_a_plain_sum():
    value = stirred(0)
    tables = value.tables(*inputs())
    actions = jnp.array([0, 1, 2], jnp.int32)

    def worth(utilities):
        return value.evaluate(eqx.tree_at(lambda t: t.utilities, tables, utilities), actions)[0]

    slope = jax.grad(worth)(tables.utilities)
    np.testing.assert_allclose(slope, np.eye(3), atol=1e-6)


def test_masked_actions_do_not_raise_the_maximum():
    """A masked action may have the largest utility: nobody ever trains it."""
    for seed in range(5):
        value = stirred(seed)
        tables = value.tables(*inputs(seed=seed))
        largest = jnp.argmax(tables.utilities, axis=1)
        mask = jnp.arange(SIZES.num_actions)[None] != largest[:, None]
        actions, best = value.greedy(tables, mask)
        masked = value.with_mask(tables, mask)
        np.testing.assert_allclose(best, value.evaluate(masked, actions), rtol=1e-5)
        np.testing.assert_allclose(best[0], best_by_enumeration(value, masked, mask), rtol=1e-5)
