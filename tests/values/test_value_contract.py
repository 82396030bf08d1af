"""What holds for every method, shared or separate."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params
from value_examples import (
    APPROXIMATE,
    best_by_enumeration,
    build,
    evaluate,
    greedy,
    inputs,
    spec,
    tables_of,
)

from pairvdn import values

SIZES = spec()
every_method = pytest.mark.parametrize("method", values.names())
slow = pytest.mark.slow
shared_or_not = pytest.mark.parametrize("shared", [True, pytest.param(False, marks=slow)])
ALL = jnp.ones((SIZES.num_agents, SIZES.num_actions), dtype=bool)
JOINT = [name for name in values.names() if name != "iql"]


def masks(count, seed=0):
    """Random masks in which every agent may do something."""
    keys = jax.random.split(jax.random.key(seed))
    shape = (count, SIZES.num_agents, SIZES.num_actions)
    always = jax.random.randint(keys[0], shape[:2], 0, SIZES.num_actions)
    return jax.random.bernoulli(keys[1], 0.4, shape) | jax.nn.one_hot(always, shape[2], dtype=bool)


def test_a_maker_makes_values_for_an_environment():
    made = values.maker("pairvdn", SIZES, hidden_sizes=(4,))(key=jax.random.key(0))
    assert eqx.tree_equal(made, build("pairvdn", hidden_sizes=(4,)))


@every_method
@pytest.mark.parametrize(
    ("shared", "encoder"),
    [
        (True, "mlp"),
        (False, "none"),
        pytest.param(True, "none", marks=slow),
        pytest.param(False, "mlp", marks=slow),
    ],
)
def test_batched_learning_step(method, shared, encoder):
    """jit of grad of vmap: finite everywhere, and some parameter of every network moves."""
    value, batch = build(method, shared=shared, encoder=encoder), inputs(batch=(5,))
    actions = jax.random.randint(jax.random.key(1), (5, SIZES.num_agents), 0, SIZES.num_actions)

    @eqx.filter_jit
    @eqx.filter_grad
    def gradient(value):
        def one(observed, actions):
            return value.evaluate(value.tables_of(*observed), actions)

        predicted = jax.vmap(one)(batch, actions)
        assert predicted.shape == (5, value.num_heads)
        return ((predicted - 1.0) ** 2).mean()

    slope = gradient(value)
    leaves = jax.tree.leaves(slope)
    assert all((leaf != 0).any() for leaf in jax.tree.leaves(slope.encoder))
    assert all(jnp.isfinite(leaf).all() for leaf in leaves)
    assert sum(bool((leaf != 0).any()) for leaf in leaves) >= 6  # weights and biases of 3 layers


@every_method
@shared_or_not
def test_greedy_is_the_best_allowed_joint_action(method, shared):
    """Never a masked action; the value of its actions; for a joint value no other has more."""
    value, batch, allowed = build(method, shared=shared), inputs(batch=(20,)), masks(20)

    @jax.jit
    @jax.vmap
    def search(observed, mask):
        tables = value.tables(*observed)
        actions, best = value.greedy(tables, mask)
        enumerated = best_by_enumeration(value, tables, mask)
        bound = value.bound(tables, mask) if isinstance(value, values.HasMaximiser) else jnp.inf
        return actions, best, value.evaluate(tables, actions), enumerated, bound

    if method == "qplex":  # its best joint action is known only where no better one is masked
        allowed = jnp.ones_like(allowed)
    actions, best, evaluated, enumerated, bound = search(batch, allowed)
    assert actions.dtype == jnp.int32
    assert jnp.take_along_axis(allowed, actions[..., None], axis=2).all()
    np.testing.assert_allclose(best, evaluated, rtol=1e-5, atol=1e-6)
    assert (bound >= enumerated - 1e-5).all()
    if method in APPROXIMATE:
        assert (best[:, 0] <= enumerated + 1e-5).all()
        assert np.isclose(best[:, 0], enumerated, rtol=1e-5, atol=1e-6).mean() > 0.5
        return
    # The first head of independent learners depends on the first agent's action only.
    np.testing.assert_allclose(best[:, 0], enumerated, rtol=1e-5, atol=1e-6)


ALL_PAIRS = ("pairvdn-learned", "sop-cg", "casec")
PAIRWISE = [m for m in values.names() if m.startswith(("pairvdn", "dcg")) or m in ALL_PAIRS]


@pytest.mark.parametrize("method", PAIRWISE)
def test_pairs_are_the_sum_that_is_maximised(method):
    value = build(method, **({} if method in ALL_PAIRS else {"utilities": True}))
    assert isinstance(value, values.HasPairs)
    tables = tables_of(value, inputs())
    actions = np.array([2, 0, 1])
    pairs = value.pairs(tables, jnp.asarray(actions, dtype=jnp.int32))
    i, j = np.asarray(pairs.edges).T
    expected = np.asarray(pairs.payoffs)[np.arange(len(i)), actions[i], actions[j]].sum()
    expected += np.asarray(pairs.utilities)[np.arange(3), actions].sum()
    found = evaluate(value, tables, jnp.asarray(actions, dtype=jnp.int32))
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)
    _, best = greedy(value, tables, ALL)
    if method not in APPROXIMATE:
        np.testing.assert_allclose(best[0], best_by_enumeration(value, tables, ALL), rtol=1e-5)


@pytest.mark.parametrize("method", JOINT)
def test_nothing_allowed_is_minus_infinity(method):
    value = build(method)
    tables = tables_of(value, inputs())
    actions, best = greedy(value, tables, ALL.at[1].set(False))
    assert (actions == -1).all()
    assert best[0] == -jnp.inf


@pytest.mark.parametrize("method", JOINT)
def test_nan_is_passed_on_and_not_hidden_by_an_action(method):
    value = build(method)
    tables = jax.tree.map(
        lambda leaf: jnp.full_like(leaf, jnp.nan) if eqx.is_inexact_array(leaf) else leaf,
        tables_of(value, inputs()),
    )
    actions, best = greedy(value, tables, ALL)
    assert (actions == -1).all()
    assert jnp.isnan(best[0])


def test_an_independent_learner_without_action_does_not_stop_others():
    value = build("iql")
    tables = tables_of(value, inputs())
    actions, best = greedy(value, tables, ALL.at[1].set(False))
    assert actions[1] == -1
    assert best[1] == -jnp.inf
    np.testing.assert_array_equal(actions[::2], jnp.argmax(tables, axis=1)[::2])


def spoil_utilities(utilities):
    return utilities.at[:, 0].set(jnp.nan)


def spoil_mixed(tables):
    return eqx.tree_at(lambda t: t.utilities, tables, spoil_utilities(tables.utilities))


def spoil_joint(table):
    joint = table.reshape((SIZES.num_actions,) * SIZES.num_agents)
    return joint.at[0].set(jnp.nan).at[:, 0].set(jnp.inf).at[:, :, 0].set(1e9).reshape(-1)


def spoil_pairs(pairs):
    payoffs = pairs.payoffs.at[:, 0].set(jnp.nan).at[:, :, 0].set(jnp.inf)
    return eqx.tree_at(lambda t: t.payoffs, pairs, payoffs)


def spoil_all_pairs(tables):
    payoffs = tables.payoffs.at[:, :, 0].set(jnp.nan).at[:, :, :, 0].set(jnp.inf)
    utilities = spoil_utilities(tables.utilities)
    return eqx.tree_at(lambda t: (t.payoffs, t.utilities), tables, (payoffs, utilities))


SPOIL = {
    **dict.fromkeys(("iql", "vdn", "vdn-neighbours"), spoil_utilities),
    **dict.fromkeys(("qmix", "qplex"), spoil_mixed),
    **dict.fromkeys(ALL_PAIRS, spoil_all_pairs),
    "dqn": spoil_joint,
}


@every_method
def test_entries_of_action_0_may_hold_anything_where_it_is_masked(method):
    value, mask = build(method), ALL.at[:, 0].set(False)
    tables = tables_of(value, inputs())
    spoilt = SPOIL.get(method, spoil_pairs)(tables)
    jax.tree.map(
        np.testing.assert_array_equal, greedy(value, spoilt, mask), greedy(value, tables, mask)
    )


@every_method
def test_one_agent(method):
    sizes = spec(num_agents=1)
    value = build(method, sizes)
    tables = tables_of(value, inputs(sizes))
    actions, best = greedy(value, tables, jnp.ones((1, sizes.num_actions), dtype=bool))
    expected = best_by_enumeration(value, tables, jnp.ones((1, 3), dtype=bool), sizes)
    np.testing.assert_allclose(best[0], expected, rtol=1e-6)
    np.testing.assert_allclose(evaluate(value, tables, actions)[0], expected, rtol=1e-6)


@every_method
def test_saved_and_loaded(tmp_path, method):
    """Everything that decides, a random order of the ring included, is in the file."""
    arguments = {"order": "random"} if method in ("pairvdn", "pairvdn-weighted") else {}
    value = build(method, seed=1, **arguments)
    eqx.tree_serialise_leaves(tmp_path / "value.eqx", value)
    other = build(method, seed=2, **arguments)
    loaded = eqx.tree_deserialise_leaves(tmp_path / "value.eqx", other)
    actions = jnp.array([2, 0, 1], dtype=jnp.int32)

    def worth(value):
        return evaluate(value, tables_of(value, inputs()), actions)

    np.testing.assert_array_equal(worth(loaded), worth(value))
    assert not np.allclose(worth(other), worth(value))


@every_method
def test_program_does_not_grow_with_agents(method):
    def equations(num_agents):
        sizes = spec(num_agents=num_agents, num_actions=2)
        # Elimination is for small graphs, and the one program that grows with them.
        value = build(method, sizes, **({"exact": False} if method == "casec" else {}))

        def run(observed, actions, mask):
            tables = value.tables(*observed)
            return value.evaluate(tables, actions), value.greedy(tables, mask)

        mask = jnp.ones((num_agents, 2), dtype=bool)
        program = jax.make_jaxpr(run)(inputs(sizes), jnp.zeros(num_agents, dtype=jnp.int32), mask)
        return count_equations(program.jaxpr)

    assert equations(4) == equations(9)


def count_equations(jaxpr):
    inner = [sub for equation in jaxpr.eqns for sub in jaxprs_in_params(equation.params)]
    return len(jaxpr.eqns) + sum(map(count_equations, inner))


@pytest.mark.parametrize("method", ["pairvdn-nearest", "pairvdn-sorted", "vdn-neighbours"])
def test_positions_are_needed(method):
    observed = inputs()
    with pytest.raises(ValueError, match="positions"):
        build(method).tables(observed.observation, observed.state)


@pytest.mark.parametrize("method", ["pairvdn-nearest", "pairvdn-sorted", "vdn-neighbours"])
def test_an_environment_without_positions_is_refused_at_once(method):
    with pytest.raises(ValueError, match=f"{method} needs the positions .* use '?\\w"):
        build(method, SIZES._replace(has_positions=False))


WRONG_SHAPES = [
    ((3, 9), 5, r"features must have shape \(num_agents, feature_size\) = \(3, 4\), not \(3, 9\)"),
    ((2, 4), 5, r"= \(3, 4\), not \(2, 4\)"),
    ((3, 4), 6, r"state must have shape \(state_size\) = \(5,\), not \(6,\)"),
]


@every_method
@pytest.mark.parametrize(("features", "state", "message"), WRONG_SHAPES)
def test_wrong_shapes_are_errors_that_name_both_sizes(method, features, state, message):
    """Also in traced and batched code, where shapes are known before anything runs."""
    value = build(method)
    with pytest.raises(ValueError, match=message):
        value.tables(jnp.ones(features), jnp.ones(state))
    with pytest.raises(ValueError, match=message):
        jax.jit(jax.vmap(value.tables))(jnp.ones((7, *features)), jnp.ones((7, state)))


def test_an_unknown_method_is_told_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'pairvdn-nearest'"):
        build("pairvdn-nearst")
    with pytest.raises(ValueError, match="known are casec, dcg, dqn, iql"):
        build("zzz")


@pytest.mark.parametrize("field", SIZES._fields[:4])
def test_sizes_must_be_positive(field):
    with pytest.raises(ValueError, match=f"{field} must be at least 1, not 0"):
        build("vdn", SIZES._replace(**{field: 0}))


@every_method
def test_unknown_arguments_are_refused(method):
    with pytest.raises(TypeError, match="hiden_sizes"):
        build(method, hiden_sizes=(3,))
