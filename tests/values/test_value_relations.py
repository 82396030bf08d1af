"""How the methods are related to each other, and to the paper."""

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis.extra.numpy import arrays
from value_examples import (
    best_by_enumeration,
    build,
    evaluate,
    greedy,
    inputs,
    joint_actions,
    spec,
    tables_of,
)

from pairvdn import maximise
from pairvdn.values import Inputs, Pairs
from pairvdn.values.graphs import FixedGraph, FixedRing
from pairvdn.values.layout import nearest
from pairvdn.values.pairvdn import partner_graph
from pairvdn.values.qmix import HyperMixer

SIZES = spec(num_agents=4)
ALL = jnp.ones((SIZES.num_agents, SIZES.num_actions), dtype=bool)
moderate = st.floats(-10, 10, width=32)


@pytest.mark.parametrize("order", ["index", "random", [2, 0, 3, 1]])
def test_pairvdn_with_additive_tables_is_vdn(order):
    """Q_ij(a_i, a_j) = Q_i(a_i) makes the ring VDN's sum; the paper, section 2."""
    vdn, ring = build("vdn", SIZES), build("pairvdn", SIZES, order=order)
    for seed in range(5):
        utilities = tables_of(vdn, inputs(SIZES, seed=seed))
        pairs = tables_of(ring, inputs(SIZES, seed=seed))
        left = pairs.edges[:, 0]
        payoffs = jnp.broadcast_to(utilities[left][:, :, None], pairs.payoffs.shape)
        additive = Pairs(edges=pairs.edges, payoffs=payoffs, utilities=None)
        actions, best = greedy(vdn, utilities, ALL)
        ring_actions, ring_best = greedy(ring, additive, ALL)
        np.testing.assert_array_equal(ring_actions, actions)
        np.testing.assert_allclose(ring_best, best, rtol=1e-5)
        some = jnp.array([2, 1, 0, 2], dtype=jnp.int32)
        np.testing.assert_allclose(
            evaluate(ring, additive, some), evaluate(vdn, utilities, some), rtol=1e-5
        )


def test_utilities_alone_are_vdn():
    ring = build("pairvdn", SIZES, utilities=True)
    tables = tables_of(ring, inputs(SIZES))
    tables = eqx.tree_at(lambda t: t.payoffs, tables, jnp.zeros_like(tables.payoffs))
    actions, best = greedy(ring, tables, ALL)
    expected, worth = build("vdn", SIZES).greedy(tables.utilities, ALL)
    np.testing.assert_array_equal(actions, expected)
    np.testing.assert_allclose(best, worth, rtol=1e-6)


@pytest.fixture(scope="module")
def greedy_of_two():
    """The greedy joint action for one given table, on a ring of two agents."""
    ring = build("pairvdn", spec(num_agents=2))
    edges = jnp.array([[0, 1], [1, 0]], dtype=jnp.int32)

    @jax.jit
    def search(table):
        payoffs = jnp.stack([table, jnp.zeros_like(table)])
        pairs = Pairs(edges=edges, payoffs=payoffs, utilities=None)
        return ring.greedy(pairs, jnp.ones((2, 3), dtype=bool))

    return search


@hypothesis.given(table=arrays(np.float32, (3, 3), elements=moderate))
def test_a_ring_of_two_is_the_full_joint_maximum(greedy_of_two, table):
    """With one table 0 the other one is Q itself: nothing is lost for two agents."""
    actions, best = greedy_of_two(table)
    assert best[0] == table.max()
    assert table[tuple(actions)] == table.max()


def test_independent_learners_have_a_head_each():
    value = build("iql", SIZES)
    tables = tables_of(value, inputs(SIZES))
    actions, best = greedy(value, tables, ALL)
    assert value.num_heads == SIZES.num_agents
    np.testing.assert_array_equal(actions, jnp.argmax(tables, axis=1))
    np.testing.assert_array_equal(best, tables.max(axis=1))
    np.testing.assert_array_equal(evaluate(value, tables, jnp.zeros(4, jnp.int32)), tables[:, 0])


def test_vdn_is_the_sum_of_independent_learners():
    vdn, iql = build("vdn", SIZES), build("iql", SIZES)
    observed, actions = inputs(SIZES), jnp.array([0, 2, 1, 1], dtype=jnp.int32)
    heads = evaluate(iql, tables_of(iql, observed), actions)
    joint = evaluate(vdn, tables_of(vdn, observed), actions)
    np.testing.assert_allclose(joint[0], heads.sum(), rtol=1e-6)


def unweighted(weighted, observed):
    return weighted.heads(weighted.graph, Inputs(*observed))


def test_weights_of_one_make_pairvdn():
    """A new pairvdn-weighted has these weights, so it starts as pairvdn."""
    weighted, observed = build("pairvdn-weighted", SIZES, order="random"), inputs(SIZES)
    ours, plain = weighted.tables(*observed), unweighted(weighted, observed)
    np.testing.assert_array_equal(ours.payoffs, plain.payoffs)


def test_weights_may_be_negative_and_depend_on_the_state():
    weighted = build("pairvdn-weighted", SIZES)
    bias = jnp.array([-2.0, 0.0, 1.0, -1.0])
    weighted = eqx.tree_at(lambda v: v.weights.biases[-1], weighted, bias)
    observed = inputs(SIZES)
    tables, plain = tables_of(weighted, observed), unweighted(weighted, observed)
    scaled = (1.0 + bias)[:, None, None] * plain.payoffs
    np.testing.assert_allclose(tables.payoffs, scaled, rtol=1e-6)
    _, best = greedy(weighted, tables, ALL)
    np.testing.assert_allclose(
        best[0], best_by_enumeration(weighted, tables, ALL, SIZES), rtol=1e-5
    )
    gradient = eqx.filter_grad(lambda v: tables_of(v, observed).payoffs.sum())(weighted)
    assert (gradient.weights.weights[-1] != 0).any()


def test_nearest_with_the_ring_as_partners_is_the_ring():
    """The same network, with every agent's successor i + 1, gives the ring's values and actions."""
    near, ring = build("pairvdn-nearest", SIZES), build("pairvdn", SIZES)
    ring = eqx.tree_at(lambda v: v.heads, ring, near.heads)
    for seed in range(5):
        observed = inputs(SIZES, seed=seed)
        tables = tables_of(ring, observed)
        near_tables = near.heads(ring.graph, Inputs(*observed))
        actions, best = greedy(near, near_tables, ALL)
        ring_actions, ring_best = greedy(ring, tables, ALL)
        np.testing.assert_array_equal(actions, ring_actions)
        np.testing.assert_allclose(best, ring_best, rtol=1e-6)


def test_sorted_in_the_order_of_index_is_the_ring():
    in_order, ring = build("pairvdn-sorted", SIZES), build("pairvdn", SIZES, order=[2, 0, 3, 1])
    ring = eqx.tree_at(lambda v: v.heads, ring, in_order.heads)
    observed = inputs(SIZES)
    places = jnp.array([[2.0, 0.0], [4.0, 0.0], [1.0, 9.0], [3.0, 0.0]])  # 2, 0, 3, 1
    tables = in_order.tables(observed.observation, observed.state, places)
    jax.tree.map(np.testing.assert_array_equal, tables, ring.tables(*observed))


def test_sorted_keeps_agents_at_one_place_in_the_order_of_index():
    observed = inputs(SIZES)
    tables = build("pairvdn-sorted", SIZES).tables(
        observed.observation, observed.state, jnp.zeros((4, 2))
    )
    np.testing.assert_array_equal(tables.edges[:, 0], [0, 1, 2, 3])


jitted_nearest = jax.jit(nearest)  # compiled once for each of the few shapes
brute_force = jax.jit(maximise.brute_force)


def follow(partners, start, steps):
    for _ in range(steps):
        start = int(partners[start])
    return start


@hypothesis.given(
    arrays(
        np.int16,
        st.tuples(st.sampled_from([2, 3, 5, 9]), st.sampled_from([1, 2])),
        elements=st.integers(-999, 999),
    )
)
def test_cycles_of_the_nearest_graph_have_length_two(points):
    """Along a cycle of nearest partners distances cannot grow, so if all differ it is a pair."""
    places = points.astype(np.float32)
    squares = ((places[:, None] - places[None]) ** 2).sum(axis=-1)[np.triu_indices(len(places), 1)]
    hypothesis.assume(len(np.unique(squares)) == len(squares))  # general position
    partners = np.asarray(jitted_nearest(places))
    for agent in range(len(places)):
        on_cycle = follow(partners, agent, len(places))
        assert partners[on_cycle] != on_cycle
        assert follow(partners, on_cycle, 2) == on_cycle


def test_equal_distances_pick_the_smaller_index():
    square = jnp.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(nearest(square), [1, 0, 1, 0])
    np.testing.assert_array_equal(nearest(jnp.zeros((3, 2))), [1, 0, 0])
    np.testing.assert_array_equal(nearest(jnp.zeros((1, 2))), [0])


@pytest.mark.parametrize("shared", [True, False])
def test_learned_partners_have_the_widest_tables(shared):
    value = build("pairvdn-nearest", SIZES, partner="spread", shared=shared)
    observed = inputs(SIZES)
    tables = value.tables(observed.observation, observed.state)  # needs no positions
    for agent, partner in np.asarray(tables.edges):
        spreads = {}
        for other in set(range(4)) - {agent}:
            edges = jnp.stack([jnp.arange(4), jnp.full(4, other)], axis=1).astype(jnp.int32)
            payoffs = np.asarray(value.heads.tables(Inputs(*observed), edges))[agent]
            spreads[other] = (payoffs.max(axis=1) - payoffs.min(axis=1)).max()
        assert partner == max(spreads, key=spreads.get)
    assert len(set(np.asarray(tables.edges[:, 1]).tolist())) > 1


def test_dcg_on_a_ring_maximises_as_pairvdn():
    """The same edges in any order and direction, and the same tables, have the same maximum."""
    ring = build("pairvdn", SIZES, order=[0, 2, 1, 3])
    dcg = build("dcg", SIZES, graph=[[2, 1], [0, 2], [3, 1], [3, 0]], utilities=False)
    plain = tables_of(ring, inputs(SIZES))
    payoffs = jnp.stack([plain.payoffs[k] for k in (1, 0, 2, 3)])
    payoffs = payoffs.at[2].set(payoffs[2].T)
    ours = Pairs(dcg.graph.fixed_edges, payoffs, None)
    np.testing.assert_array_equal(greedy(dcg, ours, ALL)[0], greedy(ring, plain, ALL)[0])
    np.testing.assert_allclose(greedy(dcg, ours, ALL)[1], greedy(ring, plain, ALL)[1], rtol=1e-6)


@pytest.mark.parametrize("graph", ["ring", "complete"])
@pytest.mark.parametrize("rank", [None, 2])
def test_tables_of_dcg_do_not_depend_on_the_order_of_a_pair(graph, rank):
    """Exchangeable agents: swapping two of them swaps rows and columns of their tables."""
    value = build("dcg", SIZES, graph=graph, rank=rank, identifiers=False)
    seen = inputs(SIZES)
    swapped = seen.observation[jnp.array([1, 0, 2, 3])]
    ours = tables_of(value, seen).payoffs[0]  # the edge (0, 1)
    other = value.tables(swapped, seen.state, seen.positions).payoffs[0]
    np.testing.assert_allclose(ours, other.T, rtol=1e-5, atol=1e-6)
    every = value.heads.all_tables(value.heads.hidden(Inputs(*seen)))
    np.testing.assert_array_equal(every, jnp.swapaxes(jnp.swapaxes(every, 0, 1), 2, 3))
    np.testing.assert_allclose(ours, every[0, 1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rank", [None, 2])
def test_the_original_head_of_dcg_is_linear_in_both_hidden_layers(rank):
    """Tables are symmetric; without a rank they are sums of what each agent adds."""
    value = build("dcg", spec(num_agents=4), head="original", graph="complete", rank=rank)
    seen = inputs(spec(num_agents=4))
    hidden = value.heads.hidden(Inputs(*seen))
    tables = np.asarray(value.heads.all_tables(hidden))
    np.testing.assert_allclose(tables, tables.transpose(1, 0, 3, 2), atol=1e-6)
    listed = value.heads.tables(hidden, np.array([[0, 1], [3, 2]], np.int32))
    np.testing.assert_allclose(listed, tables[[0, 3], [1, 2]], atol=1e-6)
    mixed = tables[0, 2] - tables[1, 2] - tables[0, 3] + tables[1, 3]
    assert (np.abs(mixed).max() < 1e-5) == (rank is None)


def test_dcg_takes_means_of_utilities_and_payoffs():
    plain, mean = build("dcg", SIZES), build("dcg", SIZES, normalise=True)
    observed = inputs(SIZES)
    np.testing.assert_allclose(
        tables_of(mean, observed).payoffs, tables_of(plain, observed).payoffs / 4, rtol=1e-6
    )
    np.testing.assert_allclose(
        tables_of(mean, observed).utilities, tables_of(plain, observed).utilities / 4, rtol=1e-6
    )


@pytest.mark.parametrize(
    ("graph", "exact", "maximiser"),
    [
        ("ring", True, "ring (exact)"),
        ("path", True, "path (exact)"),
        ("star", True, "tree (exact)"),
        ([[3, 1], [1, 2]], True, "tree (exact)"),
        ([[3, 1], [1, 2], [2, 3]], True, "successor (exact)"),
        ("complete", True, "eliminate, width 3 (exact)"),
        (
            "complete",
            False,
            "max_plus, 8 iterations and 2 sweeps (approximate, with an upper bound)",
        ),
    ],
)
def test_dcg_is_exact_or_close(graph, exact, maximiser):
    """The cheapest exact maximiser of each graph; max-plus never says more than is true."""
    value = build("dcg", SIZES, graph=graph, exact=exact)
    assert str(value.maximiser) == maximiser
    for seed in range(5):
        tables = tables_of(value, inputs(SIZES, seed=seed))
        actions, best = greedy(value, tables, ALL)
        oracle = brute_force(tables.payoffs, tables.edges, utilities=tables.utilities)
        np.testing.assert_allclose(evaluate(value, tables, actions), best, rtol=1e-5, atol=1e-6)
        assert best[0] <= oracle.value + 1e-5
        assert value.bound(tables, ALL) >= oracle.value - 1e-5
        if value.maximiser.exact:
            np.testing.assert_allclose(best[0], oracle.value, rtol=1e-5, atol=1e-6)


def test_low_rank_payoffs_have_twice_that_rank():
    """Two tables of rank 2 are averaged, one for each order of the pair."""
    sizes = spec(num_agents=3, num_actions=6)
    tables = build("dcg", sizes, rank=2).tables(*inputs(sizes))
    assert (np.linalg.matrix_rank(np.asarray(tables.payoffs), tol=1e-5) == 4).all()


def test_dqn_orders_joint_actions_by_the_first_agent():
    value = build("dqn")
    table = jnp.arange(27.0)
    worth = jax.jit(jax.vmap(lambda actions: value.evaluate(table, actions)[0]))(joint_actions())
    np.testing.assert_array_equal(worth, table)


def test_dqn_refuses_large_tables():
    with pytest.raises(ValueError, match=r"4 \*\* 16 = 4294967296 joint actions; at most"):
        build("dqn", spec(num_agents=16, num_actions=4))


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("pairvdn", {"order": [0, 1, 1, 2]}, "each of the 4 agents"),
        ("pairvdn", {"order": [0, 1, 2]}, "each of the 4 agents"),
        ("dcg", {"graph": []}, "at least one edge"),
        ("dcg", {"graph": [[0, 4]]}, "agents 0 to 3"),
        ("dcg", {"rank": 0}, "rank"),
        ("dcg", {"iterations": 0}, "iterations"),
        ("qmix", {"mixing_size": 0}, "mixing_size"),
    ],
)
def test_wrong_arguments_of_methods_are_named(method, arguments, message):
    with pytest.raises(ValueError, match=message):
        build(method, SIZES, **arguments)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (lambda key: FixedRing("up", 4, key=key), "one of index, random, a list of agents, not"),
        (lambda key: partner_graph("far", None), "one of positions, below, spread, not 'far'"),
        (lambda key: FixedGraph("circle", 4), "one of ring, path, star, complete, a list of edges"),
        (
            lambda key: HyperMixer(
                num_agents=2,
                state_size=1,
                mixing_size=1,
                mixing_activation="tanh",
                bounded_state=True,
                key=key,
            ),
            "mixing_activation must be one of elu, relu, not 'tanh'",
        ),
    ],
)
def test_unknown_choices_are_named_with_the_known_ones(part, message):
    """On the parts: the type checker of these tests stops a wrong choice before a method does."""
    with pytest.raises(ValueError, match=message):
        part(jax.random.key(0))
