"""Exact maximisers against the oracle that tries everything."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import (
    Drawn,
    oracle,
    problems,
    random_parents,
    random_successors,
    second_best,
    seeds,
    solve,
)

from pairvdn import maximise
from pairvdn.types import Maximum


def check(found: Maximum, payoffs: np.ndarray, edges: np.ndarray, drawn: Drawn) -> None:
    """The value is the oracle's, the actions are allowed and attain it, and are its if unique."""
    best = oracle(payoffs, edges, drawn)
    size = (
        1
        + np.abs(payoffs).sum()
        + (0 if drawn.utilities is None else np.abs(drawn.utilities).sum())
    )
    tolerance = 1e-5 * float(size)
    assert found.value == pytest.approx(float(best.value), abs=tolerance)
    assert float(found.bound) == float(found.value)
    attained = maximise.evaluate(payoffs, edges, found.actions, utilities=drawn.utilities)
    assert attained == pytest.approx(float(best.value), abs=tolerance)
    actions = np.asarray(found.actions)
    assert (actions >= 0).all()
    if drawn.mask is not None:
        assert drawn.mask[np.arange(len(actions)), actions].all()
    if second_best(payoffs, edges, drawn, best) < float(best.value) - 2 * tolerance:
        np.testing.assert_array_equal(actions, best.actions)


@given(problems())
def test_ring(drawn: Drawn) -> None:
    found = solve["ring"](drawn.payoffs, **drawn.extras())
    check(found, drawn.payoffs, maximise.ring_edges(drawn.num_agents), drawn)


@given(problems(tables_less=1))
def test_path(drawn: Drawn) -> None:
    found = solve["path"](drawn.payoffs, **drawn.extras())
    edges = maximise.path_edges(drawn.num_agents + 1)
    check(found, drawn.payoffs, edges, drawn)


@settings(max_examples=200)
@given(problems(random_successors))
def test_successor(drawn: Drawn) -> None:
    found = solve["successor"](drawn.payoffs, drawn.links, **drawn.extras())
    check(found, drawn.payoffs, maximise.successor_edges(drawn.links), drawn)


@given(problems(random_parents))
def test_tree(drawn: Drawn) -> None:
    found = solve["tree"](drawn.payoffs, drawn.links, **drawn.extras())
    is_root = drawn.links == np.arange(drawn.num_agents)
    payoffs = np.where(is_root[:, None, None], np.float32(0), drawn.payoffs)
    check(found, payoffs, maximise.tree_edges(drawn.links), drawn)


@given(problems())
def test_ring_is_the_successor_graph_of_next_agents(drawn: Drawn) -> None:
    following = np.roll(np.arange(drawn.num_agents, dtype=np.int32), -1)
    ring = solve["ring"](drawn.payoffs, **drawn.extras())
    successor = solve["successor"](drawn.payoffs, following, **drawn.extras())
    assert ring.value == pytest.approx(float(successor.value), rel=1e-5, abs=1e-5)


@given(problems(tables_less=1))
def test_path_is_a_ring_with_one_zero_table(drawn: Drawn) -> None:
    a = drawn.payoffs.shape[1]
    closed = np.concatenate([drawn.payoffs, np.zeros((1, a, a), np.float32)])
    path = solve["path"](drawn.payoffs, **drawn.extras())
    ring = solve["ring"](closed, **drawn.extras())
    assert path.value == pytest.approx(float(ring.value), rel=1e-5, abs=1e-5)


@given(problems(random_successors), seeds())
def test_permuting_the_agents_permutes_the_answer(drawn: Drawn, seed: int) -> None:
    n = drawn.num_agents
    new_of_old = np.random.default_rng(seed).permutation(n)
    old_of_new = np.argsort(new_of_old)
    moved = Drawn(
        payoffs=drawn.payoffs[old_of_new],
        utilities=None if drawn.utilities is None else drawn.utilities[old_of_new],
        mask=None if drawn.mask is None else drawn.mask[old_of_new],
        links=new_of_old[drawn.links][old_of_new].astype(np.int32),
    )
    before = solve["successor"](drawn.payoffs, drawn.links, **drawn.extras())
    after = solve["successor"](moved.payoffs, moved.links, **moved.extras())
    back = Maximum(after.actions[new_of_old], after.value, after.bound)
    check(back, drawn.payoffs, maximise.successor_edges(drawn.links), drawn)
    assert before.value == pytest.approx(float(after.value), rel=1e-5, abs=1e-5)


@given(st.integers(2, 5), st.integers(1, 3), seeds())
def test_a_batch_with_a_different_graph_in_each_example(n: int, a: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    payoffs = rng.normal(size=(7, n, a, a)).astype(np.float32)
    graphs = rng.integers(0, n, (7, n)).astype(np.int32)
    together = jax.jit(jax.vmap(maximise.successor))(payoffs, graphs)
    for b in range(7):
        alone = solve["successor"](payoffs[b], graphs[b])
        assert together.value[b] == pytest.approx(float(alone.value), rel=1e-6)
        np.testing.assert_array_equal(together.actions[b], alone.actions)


def test_graphs_of_more_agents_than_the_comparison_sort_is_used_for() -> None:
    """Above 64 agents orders come from sorts and searches; the answers must not notice."""
    rng = np.random.default_rng(0)
    payoffs = rng.normal(size=(5, 90, 3, 3)).astype(np.float32)
    following = np.roll(np.arange(90, dtype=np.int32), -1)
    ring = jax.vmap(maximise.ring)(payoffs)
    successor = jax.jit(jax.vmap(maximise.successor, (0, None)))(payoffs, following)
    np.testing.assert_allclose(ring.value, successor.value, rtol=1e-5)
    np.testing.assert_array_equal(ring.actions, successor.actions)
    parents = np.stack([random_parents(rng, 90) for _ in range(5)]).astype(np.int32)
    tree = jax.jit(jax.vmap(maximise.tree))(payoffs, parents)
    plus = jax.vmap(lambda p, e: maximise.max_plus(p, e, iterations=90, num_agents=90))
    rootless = np.where((parents == np.arange(90))[:, :, None, None], 0, payoffs)
    exact_on_trees = jax.jit(plus)(
        rootless.astype(np.float32), jax.vmap(maximise.tree_edges)(jnp.asarray(parents))
    )
    np.testing.assert_allclose(tree.value, exact_on_trees.value, rtol=1e-4)


def test_nested_batches() -> None:
    payoffs = np.random.default_rng(0).normal(size=(2, 3, 4, 5, 3, 3)).astype(np.float32)
    nested = jax.vmap(jax.vmap(jax.vmap(maximise.ring)))(payoffs)
    flat = jax.vmap(maximise.ring)(payoffs.reshape(24, 5, 3, 3))
    np.testing.assert_array_equal(nested.actions.reshape(24, 5), flat.actions)
    np.testing.assert_array_equal(nested.value.reshape(24), flat.value)


def test_one_graph_for_a_whole_batch_and_one_mask() -> None:
    rng = np.random.default_rng(1)
    payoffs = rng.normal(size=(6, 4, 3, 3)).astype(np.float32)
    graph = np.array([1, 0, 0, 3], np.int32)
    mask = np.array([[True, False, True]] * 4)
    batched = jax.vmap(lambda p: maximise.successor(p, graph, mask=mask))(payoffs)
    assert not np.any(np.asarray(batched.actions) == 1)
    for b in range(6):
        one = maximise.successor(payoffs[b], graph, mask=mask)
        np.testing.assert_array_equal(batched.actions[b], one.actions)


def test_tie_rule_of_the_ring() -> None:
    """The smallest a_1, then the smallest a_n: of (0, 1), (1, 0) the first."""
    unequal = 1 - np.eye(2, dtype=np.float32)
    assert maximise.ring(np.stack([unequal, unequal])).actions.tolist() == [0, 1]
    assert maximise.ring(np.zeros((5, 3, 3), np.float32)).actions.tolist() == [0] * 5


def test_whole_numbers_are_taken_as_payoffs() -> None:
    assert float(maximise.ring([[[1, 2], [3, 4]]]).value) == 4
