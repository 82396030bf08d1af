"""Graphs of agents: an owner for every edge exactly where each component has at most one cycle."""

import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.config import load_preset
from pairvdn.values.graphs import FixedGraph, graph_edges
from pairvdn.values.orientation import orient


@st.composite
def graphs(draw):
    num_agents = draw(st.integers(1, 7))
    agent = st.integers(0, num_agents - 1)
    edges = draw(st.lists(st.tuples(agent, agent), min_size=1, max_size=9))
    return num_agents, np.array(edges, dtype=np.int32)


def each_component_has_at_most_one_cycle(num_agents, edges):
    component = np.arange(num_agents)
    for i, j in edges:
        component[component == component[i]] = component[j]
    agents = np.bincount(component, minlength=num_agents)
    return (np.bincount(component[edges[:, 0]], minlength=num_agents) <= agents).all()


@hypothesis.given(graphs())
def test_orientation_exists_exactly_for_at_most_one_cycle(graph):
    num_agents, edges = graph
    orientation = orient(edges, num_agents)
    assert (orientation is not None) == each_component_has_at_most_one_cycle(num_agents, edges)


@hypothesis.given(graphs(), st.integers(0, 99))
def test_orientation_keeps_the_sum(graph, seed):
    """Σ over the successor graph equals Σ over the edges, for any actions."""
    num_agents, edges = graph
    orientation = orient(edges, num_agents)
    hypothesis.assume(orientation is not None)
    random = np.random.default_rng(seed)
    payoffs = random.normal(size=(len(edges), 3, 3)).astype(np.float32)
    actions = random.integers(0, 3, num_agents)
    tables = np.asarray(orientation.tables(jnp.asarray(payoffs)))
    successors = np.asarray(orientation.successors)
    ours = tables[np.arange(num_agents), actions, actions[successors]].sum()
    plain = payoffs[np.arange(len(edges)), actions[edges[:, 0]], actions[edges[:, 1]]].sum()
    np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-5)


@hypothesis.given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_forms_are_found_whatever_the_labels(agents, turned):
    """A path, a ring, a forest and a ring with a tail, in any order and direction."""
    graphs = {
        "path": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
        "ring": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
        "tree": [(0, 1), (0, 2), (0, 3), (4, 5)],
        "successor": [(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)],
    }
    for form, edges in graphs.items():
        named = [(agents[i], agents[j]) for i, j in edges]
        named = [edge[::-1] if turn else edge for edge, turn in zip(named, turned, strict=False)]
        orientation = orient(np.array(named, np.int32), 6)
        assert orientation is not None
        assert orientation.form == form


def test_sensors_are_maximised_by_elimination():
    graph = load_preset("sensor/dcg").method.arguments["graph"]
    assert str(FixedGraph(graph, 15).maximiser(9)) == "eliminate, width 4 (exact)"
    assert not FixedGraph("complete", 15).maximiser(9).exact


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("ring", [[0, 1], [1, 2], [2, 3], [3, 0]]),
        ("path", [[0, 1], [1, 2], [2, 3]]),
        ("star", [[0, 1], [0, 2], [0, 3]]),
        ("complete", [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]),
    ],
)
def test_named_graphs(name, edges):
    np.testing.assert_array_equal(graph_edges(name, 4), edges)


def test_a_graph_without_edges_is_refused():
    with pytest.raises(ValueError, match="at least one edge"):
        graph_edges("path", 1)
