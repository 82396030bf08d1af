"""Rules that all maximisers keep: gradients, nothing allowed, NaN, wrong arguments, sizes."""

import time
from collections.abc import Callable
from functools import partial

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn import maximise
from pairvdn.types import Maximum

N, A = 4, 3
GRAPH = np.array([1, 2, 0, 0], np.int32)
EDGES = np.array([(0, 1), (1, 2), (2, 3), (3, 0)], np.int32)
PARENTS = np.array([0, 0, 1, 1], np.int32)

# Every maximiser as a compiled function of tables alone, how many it wants, and its edges.
METHODS: dict[str, tuple[Callable[..., Maximum], int, np.ndarray]] = {
    name: (jax.jit(function), tables, np.asarray(edges))
    for name, function, tables, edges in (
        ("ring", maximise.ring, N, maximise.ring_edges(N)),
        ("path", maximise.path, N - 1, maximise.path_edges(N)),
        ("tree", partial(maximise.tree, parents=PARENTS), N, maximise.tree_edges(PARENTS)),
        (
            "successor",
            partial(maximise.successor, successors=GRAPH),
            N,
            maximise.successor_edges(GRAPH),
        ),
        ("max_plus", partial(maximise.max_plus, edges=EDGES), N, EDGES),
        ("brute_force", partial(maximise.brute_force, edges=EDGES), N, EDGES),
        ("eliminate", partial(maximise.eliminate, edges=EDGES), N, EDGES),
        (
            "coordinate_ascent",
            partial(maximise.coordinate_ascent, edges=EDGES, actions=np.zeros(N, np.int32)),
            N,
            EDGES,
        ),
    )
}


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> tuple[Callable[..., Maximum], np.ndarray, np.ndarray]:
    function, tables, edges = METHODS[request.param]
    payoffs = np.random.default_rng(0).normal(size=(tables, A, A)).astype(np.float32)
    return function, payoffs, edges


def test_gradient_is_the_one_hot_of_the_actions(method) -> None:
    function, payoffs, edges = method
    utilities = np.random.default_rng(1).normal(size=(N, A)).astype(np.float32)
    slopes = jax.jit(jax.grad(lambda p, u: function(p, utilities=u).value, argnums=(0, 1)))
    by_payoffs, by_utilities = slopes(payoffs, utilities)
    actions = np.asarray(function(payoffs, utilities=utilities).actions)
    expected = np.zeros_like(payoffs)
    for e, (i, j) in enumerate(edges[: len(payoffs)]):
        expected[e, actions[i], actions[j]] = 1
    if function is METHODS["tree"][0]:
        expected[0] = 0  # the root's table is ignored
    np.testing.assert_array_equal(by_payoffs, expected)
    np.testing.assert_array_equal(by_utilities, np.eye(A, dtype=np.float32)[actions])


def test_gradients_in_a_batch_and_forward_mode(method) -> None:
    function, payoffs, _ = method
    batch = np.stack([payoffs, -payoffs])
    together = jax.jit(jax.grad(lambda p: jax.vmap(function)(p).value.sum()))(batch)
    alone = [jax.jit(jax.grad(lambda p: function(p).value))(x) for x in batch]
    np.testing.assert_array_equal(together, np.stack(alone))
    value, slope = jax.jvp(lambda p: function(p).value, (payoffs,), (payoffs,))
    assert slope == pytest.approx(float(value), rel=1e-4)


def test_gradient_runs_no_scan_backwards() -> None:
    """The scans of the derivative are those of the maximisation: forward, and backtracking."""
    payoffs = np.zeros((5, A, A), np.float32)
    graph = np.array([1, 2, 0, 0, 3], np.int32)
    for function in (maximise.ring, lambda p: maximise.successor(p, graph)):
        plain = str(jax.make_jaxpr(function)(payoffs)).count("scan[")
        slope = str(jax.make_jaxpr(jax.grad(lambda p, f=function: f(p).value))(payoffs))
        assert slope.count("scan[") == plain > 0


def test_nothing_allowed(method) -> None:
    function, payoffs, _ = method
    mask = np.ones((N, A), bool)
    mask[2] = False
    assert_undecided(function, payoffs, mask, expected=-np.inf)


def test_nan_in_an_allowed_entry(method) -> None:
    function, payoffs, _ = method
    payoffs = payoffs.copy()
    payoffs[1, 0, 2] = np.nan
    assert_undecided(function, payoffs, np.ones((N, A), bool), expected=np.nan)


def assert_undecided(function, payoffs, mask, expected) -> None:
    found = function(payoffs, mask=mask)
    np.testing.assert_array_equal(found.value, expected)
    np.testing.assert_array_equal(found.bound, expected)
    assert found.actions.tolist() == [-1] * N
    slope = jax.jit(jax.grad(lambda p: function(p, mask=mask).value))(payoffs)
    np.testing.assert_array_equal(slope, np.zeros_like(payoffs))


@pytest.mark.parametrize("rubbish", [np.nan, np.inf, -np.inf, 1e30])
def test_entries_of_masked_actions_are_ignored(method, rubbish: float) -> None:
    function, payoffs, edges = method
    mask = np.ones((N, A), bool)
    mask[0, 1] = mask[2, 2] = False
    utilities = np.zeros((N, A), np.float32)
    clean = function(payoffs, mask=mask, utilities=utilities)
    dirty, dirty_utilities = payoffs.copy(), utilities.copy()
    for e, (i, j) in enumerate(edges[: len(payoffs)]):
        dirty[e, ~mask[i], :] = rubbish
        dirty[e, :, ~mask[j]] = rubbish
    dirty_utilities[~mask] = rubbish
    found = function(dirty, mask=mask, utilities=dirty_utilities)
    np.testing.assert_array_equal(found.actions, clean.actions)
    np.testing.assert_array_equal(found.value, clean.value)


def test_loops_are_diagonals_and_the_rest_of_their_table_is_ignored() -> None:
    table = np.array([[[1.0, np.nan], [np.nan, 2.0]]], np.float32)
    for found in (
        maximise.ring(table),
        maximise.successor(table, [0]),
        maximise.max_plus(table, [[0, 0]]),
        maximise.brute_force(table, [[0, 0]]),
        maximise.eliminate(table, [[0, 0]]),
        maximise.coordinate_ascent(table, [[0, 0]], [0]),
    ):
        assert (found.actions.tolist(), float(found.value)) == ([1], 2.0)


def test_the_root_of_a_tree_has_no_table() -> None:
    payoffs = np.zeros((2, 2, 2), np.float32)
    payoffs[1] = np.nan
    found = maximise.tree(payoffs, [1, 1])
    assert (found.actions.tolist(), float(found.value)) == ([0, 0], 0.0)


def test_agents_on_no_edge_follow_their_utilities() -> None:
    payoffs = np.zeros((1, 2, 2), np.float32)
    utilities = np.array([[0, 1], [1, 0], [0, 5]], np.float32)
    for function in (maximise.max_plus, maximise.brute_force, maximise.eliminate):
        assert function(payoffs, [[0, 1]], utilities=utilities).actions.tolist() == [1, 0, 1]


def test_an_infinite_payoff_is_the_maximum_and_not_nan() -> None:
    payoffs = np.zeros((4, 2, 2), np.float32)
    payoffs[1, 1, 0] = np.inf
    mask = np.ones((4, 2), bool)
    mask[3, 1] = False
    for function in (
        maximise.ring,
        lambda p, **k: maximise.successor(p, [1, 2, 3, 0], **k),
        lambda p, **k: maximise.eliminate(p, EDGES, **k),
    ):
        found = function(payoffs, mask=mask)
        assert float(found.value) == np.inf
        assert found.actions[1:3].tolist() == [1, 0]


WRONG = {
    "payoffs not square": lambda: maximise.ring(np.zeros((3, 2, 4))),
    "payoffs of a batch": lambda: maximise.ring(np.zeros((5, 3, 2, 2))),
    "no actions": lambda: maximise.ring(np.zeros((3, 0, 0))),
    "no agents": lambda: maximise.ring(np.zeros((0, 2, 2))),
    "complex": lambda: maximise.ring(np.zeros((3, 2, 2), complex)),
    "utilities too few": lambda: maximise.ring(np.zeros((3, 2, 2)), utilities=np.zeros((2, 2))),
    "mask of a path": lambda: maximise.path(np.zeros((3, 2, 2)), mask=np.ones((3, 2), bool)),
    "mask not boolean": lambda: maximise.ring(np.zeros((3, 2, 2)), mask=np.ones((3, 2))),
    "successors too few": lambda: maximise.successor(np.zeros((3, 2, 2)), [0, 1]),
    "successor out of range": lambda: maximise.successor(np.zeros((3, 2, 2)), [0, 1, 3]),
    "negative successor": lambda: maximise.successor(np.zeros((3, 2, 2)), [0, 1, -1]),
    "successors not whole": lambda: maximise.successor(np.zeros((3, 2, 2)), [0.0, 1.0, 2.0]),
    "two roots": lambda: maximise.tree(np.zeros((3, 2, 2)), [0, 1, 0]),
    "a cycle": lambda: maximise.tree(np.zeros((3, 2, 2)), [1, 0, 2]),
    "edges not pairs": lambda: maximise.max_plus(np.zeros((3, 2, 2)), np.zeros((3, 3), int)),
    "edge out of range": lambda: maximise.max_plus(np.zeros((1, 2, 2)), [[0, 3]], num_agents=3),
    "no edges, no number": lambda: maximise.brute_force(np.zeros((0, 2, 2)), np.zeros((0, 2), int)),
    "no agents at all": lambda: maximise.brute_force(
        np.zeros((0, 2, 2)), np.zeros((0, 2), int), num_agents=0
    ),
    "negative iterations": lambda: maximise.max_plus(np.zeros((1, 2, 2)), [[0, 1]], iterations=-1),
    "negative sweeps": lambda: maximise.max_plus(np.zeros((1, 2, 2)), [[0, 1]], sweeps=-1),
    "too wide": lambda: maximise.eliminate(
        np.zeros((45, 4, 4)), [(i, j) for i in range(10) for j in range(i)]
    ),
    "traced edges": lambda: jax.jit(maximise.eliminate)(
        np.zeros((1, 2, 2)), np.array([[0, 1]]), utilities=np.zeros((2, 2))
    ),
    "too many joint actions": lambda: maximise.brute_force(
        np.zeros((24, 2, 2)), maximise.ring_edges(24)
    ),
    "an edge to agent ten million": lambda: maximise.brute_force(np.zeros((1, 2, 2)), [[0, 10**7]]),
    "successors of nobody": lambda: maximise.successor(np.zeros((0, 2, 2)), np.zeros(0, int)),
    "actions too few": lambda: maximise.evaluate(
        np.zeros((3, 2, 2)), maximise.ring_edges(3), [0, 1]
    ),
}
MESSAGES = {
    "payoffs not square": r"payoffs .*\[n, a, a\].* got \[3, 2, 4\]",
    "utilities too few": r"utilities .*\[3, 2\], got \[2, 2\]",
    "mask of a path": r"mask .*\[4, 2\], got \[3, 2\]",
    "successors too few": r"successors .*\[3\], got \[2\]",
    "successor out of range": r"successors .* below the number of agents, 3, got 3",
    "a cycle": r"parents must be one tree .* got \[1, 0, 2\]",
    "too wide": r"width at most 7 with 4 actions .* this graph of 10 agents is wider: use max_plus",
    "traced edges": r"eliminate needs edges that are not traced",
    "an edge to agent ten million": "10000001 agents with 2 actions each are too many",
    "successors of nobody": "at least one agent, got",
    "too many joint actions": r"2\^24 = 1.7e\+07 .* use ring",
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused(case: str) -> None:
    with pytest.raises(ValueError, match=MESSAGES.get(case)):
        WRONG[case]()


def test_number_of_agents_of_traced_edges_must_be_said() -> None:
    payoffs = np.zeros((1, 2, 2), np.float32)
    with pytest.raises(ValueError, match="num_agents must be given when edges are traced"):
        jax.jit(maximise.max_plus)(payoffs, np.array([[0, 1]], np.int32))
    by_utilities = jax.jit(maximise.max_plus)(
        payoffs, np.array([[0, 1]], np.int32), utilities=np.zeros((3, 2), np.float32)
    )
    assert by_utilities.actions.shape == (3,)


def test_an_action_of_minus_one_counts_for_nothing() -> None:
    payoffs = np.ones((3, 2, 2), np.float32)
    assert float(maximise.evaluate(payoffs, maximise.ring_edges(3), [0, -1, 0])) == 1


@pytest.mark.parametrize("name", ["ring", "successor", "path", "tree"])
def test_jaxpr_does_not_grow(name: str) -> None:
    def size(n: int, a: int) -> int:
        payoffs = np.zeros((n, a, a), np.float32)
        graph = (np.zeros(n, np.int32),) * (name in ("successor", "tree"))
        return num_equations(jax.make_jaxpr(getattr(maximise, name))(payoffs, *graph).jaxpr)

    assert size(3, 2) == size(16, 9) == size(50, 4)


def num_equations(jaxpr: jax.extend.core.Jaxpr) -> int:
    inner = jax.extend.core.jaxprs_in_params
    return sum(1 + sum(map(num_equations, inner(equation.params))) for equation in jaxpr.eqns)


@pytest.mark.parametrize(("n", "a", "batch"), [(1024, 16, 1), (16, 4, 4096)])
def test_large_problems_run(n: int, a: int, batch: int) -> None:
    payoffs = jax.random.normal(jax.random.key(0), (batch, n, a, a))
    graph = jax.random.randint(jax.random.key(1), (batch, n), 0, n, jnp.int32)
    start = time.process_time()
    ring = jax.jit(jax.vmap(maximise.ring))(payoffs)
    successor = jax.jit(jax.vmap(maximise.successor))(payoffs, graph)
    print(f"{time.process_time() - start:.1f} s, compilation included")
    for found, edges in (
        (ring, jax.vmap(lambda _: maximise.ring_edges(n))(graph)),
        (successor, jax.vmap(maximise.successor_edges)(graph)),
    ):
        attained = jax.vmap(maximise.evaluate)(payoffs, edges, found.actions)
        np.testing.assert_allclose(attained, found.value, rtol=1e-4)


def test_tables_and_utilities_may_have_different_precision() -> None:
    payoffs, utilities = np.zeros((3, 2, 2), np.float16), np.eye(3, 2, dtype=np.float32)
    with jax.numpy_dtype_promotion("standard"):  # as users have it
        best = maximise.tree(payoffs, [0, 0, 1], utilities=utilities)
    assert best.value.dtype == np.float32
    np.testing.assert_array_equal(best.actions[:2], [0, 1])
    assert best.value == 2
