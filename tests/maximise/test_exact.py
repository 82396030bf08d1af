"""Exact maximisers against an oracle that tries everything."""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import (
    BATCH,
    Problems,
    assert_maximal,
    complete_edges,
    in_batches,
    problems,
    random_parents,
    random_successors,
    solve,
    tolerance,
)

from pairvdn import maximise
from pairvdn.maximise.eliminate import elimination_plan, widest
from pairvdn.types import Maximum

edges_of = jax.vmap(maximise.successor_edges)


@given(problems(random_successors))
def test_brute_force(drawn: Problems) -> None:
    found = in_any_graph(drawn)
    assert_maximal(found, drawn, np.asarray(edges_of(drawn.links)))


def in_any_graph(drawn: Problems) -> Maximum:
    return solve["brute_force"](drawn.payoffs, edges_of(drawn.links), **drawn.extras())


@given(problems())
def test_ring(drawn: Problems) -> None:
    found = solve["ring"](drawn.payoffs, **drawn.extras())
    assert_maximal(found, drawn, np.asarray(edges_of(drawn.links)))


@given(problems(tables=lambda n: n - 1))
def test_path(drawn: Problems) -> None:
    found = solve["path"](drawn.payoffs, **drawn.extras())
    assert_maximal(found, drawn, np.asarray(edges_of(drawn.links)))


@settings(max_examples=200)
@given(problems(random_successors))
def test_successor(drawn: Problems) -> None:
    found = solve["successor"](drawn.payoffs, drawn.links, **drawn.extras())
    assert_maximal(found, drawn, np.asarray(edges_of(drawn.links)))


@given(problems(random_parents))
def test_tree(drawn: Problems) -> None:
    found = solve["tree"](drawn.payoffs, drawn.links, **drawn.extras())
    assert_maximal(found, drawn, np.asarray(edges_of(drawn.links)), without_roots(drawn))


@functools.cache
def eliminated(edges: tuple[tuple[int, int], ...]) -> Callable[..., Maximum]:
    return in_batches(lambda p, **extras: maximise.eliminate(p, np.array(edges), **extras))


@given(problems(tables=lambda n: len(complete_edges(n))))
def test_eliminate_on_every_pair(drawn: Problems) -> None:
    edges = complete_edges(drawn.num_agents)
    found = eliminated(tuple(map(tuple, edges.tolist())))(drawn.payoffs, **drawn.extras())
    assert_maximal(found, drawn, np.tile(edges, (BATCH, 1, 1)))


@given(problems(tables=lambda n: n + 2), st.integers(0, 2**32 - 1))
def test_eliminate_on_random_graphs(drawn: Problems, seed: int) -> None:
    n = drawn.num_agents
    edges = np.random.default_rng(seed).integers(0, n, (n + 2, 2))
    found = eliminated(tuple(map(tuple, edges.tolist())))(drawn.payoffs, **drawn.extras())
    assert_maximal(found, drawn, np.tile(edges, (BATCH, 1, 1)))


def test_the_elimination_order_finds_the_width_of_known_graphs() -> None:
    def width(edges: list[tuple[int, int]], n: int) -> int:
        plan = elimination_plan(tuple(edges), n, n)
        assert plan is not None
        return plan.width

    tree = [(i, (i - 1) // 2) for i in range(1, 15)]
    ring = [(i, (i + 1) % 9) for i in range(9)]
    every = [(i, j) for i in range(6) for j in range(i)]
    ladder = [(i, i + 1) for i in range(9) if i != 4] + [(i, i + 5) for i in range(5)]
    grid = [(4 * r + c, 4 * r + c + 1) for r in range(4) for c in range(3)]
    grid += [(4 * r + c, 4 * r + c + 4) for r in range(3) for c in range(4)]
    found = [width(*graph) for graph in ((tree, 15), (ring, 9), (every, 6), (ladder, 10))]
    assert found == [1, 2, 5, 2]
    assert width(grid, 16) == 4
    assert elimination_plan(tuple(grid), 16, 3) is None  # refused, and known to be out of reach
    assert widest(num_actions=9, limit=9**5) == 4
    assert widest(num_actions=3, limit=3**6 - 1) == 4
    assert widest(num_actions=2) == 10


def without_roots(drawn: Problems) -> np.ndarray:
    is_root = drawn.links == np.arange(drawn.num_agents)
    return np.where(is_root[:, :, None, None], np.float32(0), drawn.payoffs)


@given(problems())
def test_ring_is_the_successor_graph_of_next_agents(drawn: Problems) -> None:
    ring = solve["ring"](drawn.payoffs, **drawn.extras())
    successor = solve["successor"](drawn.payoffs, drawn.links, **drawn.extras())
    assert (abs(ring.value - successor.value) <= tolerance(drawn, drawn.payoffs)).all()


@given(problems(tables=lambda n: n - 1))
def test_path_is_a_ring_with_one_zero_table(drawn: Problems) -> None:
    path = solve["path"](drawn.payoffs, **drawn.extras())
    closed = np.pad(drawn.payoffs, [(0, 0), (0, 1), (0, 0), (0, 0)])
    ring = solve["ring"](closed, **drawn.extras())
    assert (abs(path.value - ring.value) <= tolerance(drawn, drawn.payoffs)).all()


@given(problems(random_successors), st.integers(0, 2**32 - 1))
def test_permuting_the_agents_permutes_the_answer(drawn: Problems, seed: int) -> None:
    new_of_old = np.random.default_rng(seed).permutation(drawn.num_agents)
    old_of_new = np.argsort(new_of_old)
    moved = Problems(
        payoffs=drawn.payoffs[:, old_of_new],
        utilities=drawn.utilities[:, old_of_new],
        mask=drawn.mask[:, old_of_new],
        links=new_of_old[drawn.links][:, old_of_new].astype(np.int32),
    )
    found = solve["successor"](moved.payoffs, moved.links, **moved.extras())
    back = eqx.tree_at(lambda m: m.actions, found, found.actions[:, new_of_old])
    assert_maximal(back, drawn, np.asarray(edges_of(drawn.links)))


def test_without_utilities_and_masks() -> None:
    """Leaving them out is the same as zeros and all allowed, and a separate path in the code."""
    rng = np.random.default_rng(0)
    payoffs = rng.normal(size=(5, 3, 3)).astype(np.float32)
    graph, tree = np.array([1, 2, 1, 0, 4], np.int32), np.array([0, 0, 1, 1, 3], np.int32)
    neutral = {"utilities": np.zeros((5, 3), np.float32), "mask": np.ones((5, 3), bool)}
    for function, arguments in (
        (maximise.ring, (payoffs,)),
        (maximise.path, (payoffs[1:],)),
        (maximise.successor, (payoffs, graph)),
        (maximise.tree, (payoffs, tree)),
        (maximise.max_plus, (payoffs, maximise.ring_edges(5))),
        (maximise.brute_force, (payoffs, maximise.ring_edges(5))),
        (maximise.eliminate, (payoffs, maximise.ring_edges(5))),
        (maximise.coordinate_ascent, (payoffs, maximise.ring_edges(5), [0] * 5)),
    ):
        plain, full = function(*arguments), function(*arguments, **neutral)
        np.testing.assert_array_equal(plain.actions, full.actions)
        np.testing.assert_allclose(plain.value, full.value, rtol=1e-6)


def test_graphs_of_more_agents_than_are_sorted_by_comparison() -> None:
    """Above 64 agents orders come from sorts and searches; the answers must not notice."""
    rng = np.random.default_rng(0)
    payoffs = rng.normal(size=(5, 90, 3, 3)).astype(np.float32)
    following = np.roll(np.arange(90, dtype=np.int32), -1)
    ring = jax.jit(jax.vmap(maximise.ring))(payoffs)
    successor = jax.jit(jax.vmap(maximise.successor, (0, None)))(payoffs, following)
    np.testing.assert_allclose(ring.value, successor.value, rtol=1e-5)
    np.testing.assert_array_equal(ring.actions, successor.actions)

    parents = np.stack([random_parents(rng, 90) for _ in range(5)]).astype(np.int32)
    tree = jax.jit(jax.vmap(maximise.tree))(payoffs, parents)
    is_root = parents == np.arange(90)
    rootless = np.where(is_root[:, :, None, None], np.float32(0), payoffs)
    message_passing = jax.vmap(
        lambda p, e: maximise.max_plus(p, e, iterations=90, num_agents=90)  # exact on trees
    )
    same = jax.jit(message_passing)(rootless, edges_of(jnp.asarray(parents)))
    np.testing.assert_allclose(tree.value, same.value, rtol=1e-4)


def test_nested_batches() -> None:
    payoffs = np.random.default_rng(0).normal(size=(2, 3, 4, 5, 3, 3)).astype(np.float32)
    nested = jax.jit(jax.vmap(jax.vmap(jax.vmap(maximise.ring))))(payoffs)
    flat = jax.jit(jax.vmap(maximise.ring))(payoffs.reshape(24, 5, 3, 3))
    np.testing.assert_array_equal(nested.actions.reshape(24, 5), flat.actions)
    np.testing.assert_array_equal(nested.value.reshape(24), flat.value)


def test_one_example_equals_its_row_of_a_batch() -> None:
    rng = np.random.default_rng(1)
    payoffs = rng.normal(size=(6, 4, 3, 3)).astype(np.float32)
    graphs = rng.integers(0, 4, (6, 4)).astype(np.int32)
    mask = np.array([[True, False, True]] * 4)  # one for the whole batch
    one = jax.jit(lambda p, g: maximise.successor(p, g, mask=mask))
    batched = jax.jit(jax.vmap(one))(payoffs, graphs)
    assert not np.any(np.asarray(batched.actions) == 1)
    for b in range(6):
        alone = one(payoffs[b], graphs[b])
        np.testing.assert_array_equal(batched.actions[b], alone.actions)
        np.testing.assert_array_equal(batched.value[b], alone.value)


def test_tie_rule_of_the_ring() -> None:
    """The smallest a_1, then the smallest a_n: of (0, 1) and (1, 0) the first."""
    unequal = 1 - np.eye(2, dtype=np.float32)
    assert maximise.ring(np.stack([unequal, unequal])).actions.tolist() == [0, 1]
    assert maximise.ring(np.zeros((5, 3, 3), np.float32)).actions.tolist() == [0] * 5


def test_whole_numbers_are_taken_as_payoffs() -> None:
    assert float(maximise.ring([[[1, 2], [3, 4]]]).value) == 4
