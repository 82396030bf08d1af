"""Approximate maxima on any graph, with a certificate of how far off they can be."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least
from pairvdn.lanes import in_lanes
from pairvdn.maximise.bounds import upper_bound
from pairvdn.maximise.checks import Numbers, as_indices
from pairvdn.maximise.directed import (
    Directed,
    best_actions,
    best_replies,
    both_ways,
    climb,
    directed,
    sum_into,
    value_of,
)
from pairvdn.maximise.dynamic_programming import forbid, lanes_in_cache
from pairvdn.maximise.problem import (
    Answer,
    Problem,
    maximise,
    problem_on_edges,
    without_loops,
)
from pairvdn.types import Maximum

ITERATIONS, SWEEPS = 8, 2


def max_plus(
    payoffs: Numbers,
    edges: Numbers,
    *,
    iterations: int = ITERATIONS,
    sweeps: int = SWEEPS,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
    num_agents: int | None = None,
) -> Maximum:
    """Maximise the sum over edges (i, j) of payoffs[e, a_i, a_j], approximately.

    Messages run along every edge in both directions at once, as in Deep Coordination Graphs:

        m_ij(y) = max over x of payoffs[e, x, y] + b_i(x) - m_ji(x)
        b_i(x)  = u_i(x) + sum of the messages to i

    less their mean, so that they stay bounded on graphs with cycles. After each iteration every
    agent takes its best b_i; the best joint action so far is kept. On a tree with a unique
    maximum the answer is exact after as many iterations as the longest path has edges. Then
    `coordinate_ascent` improves the answer. It also separates agents that look the same: they send
    each other the same messages and would all take the same action. `bound` is an upper bound on
    the true maximum, from as many iterations of diffusion (`bounds.py`); it is computed only if it
    is used.

    Args:
        payoffs: [e, a, a].
        edges: [e, 2], agents i and j of each table; (i, i) means the diagonal, double edges add.
            Edges that are traced work too, but are slower.
        iterations: rounds of messages; 8 in Deep Coordination Graphs.
        sweeps: rounds of coordinate ascent; 0 in Deep Coordination Graphs.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.
        num_agents: if not given, from utilities or mask, else the largest index + 1.

    Ties: each agent the smallest of its best actions; the first joint action seen stays.
    """
    require_at_least(0, iterations=iterations, sweeps=sweeps)
    problem = problem_on_edges(payoffs, edges, utilities, mask, num_agents)
    search = partial(_pass_messages, iterations, sweeps)
    return maximise(_solver(_known(edges), search, iterations), problem)


def coordinate_ascent(
    payoffs: Numbers,
    edges: Numbers,
    actions: Numbers,
    *,
    sweeps: int = SWEEPS,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
) -> Maximum:
    """Improve a joint action: one agent after the other takes its best action given the others.

    The value never decreases: an agent moves only if it gains. It ends in a joint action that no
    agent can improve alone, if there are enough sweeps. The arguments and `bound` are those of
    `max_plus`.

    Args:
        payoffs: [e, a, a].
        edges: [e, 2].
        actions: [n], the joint action to start from; an action that is not allowed is replaced by
            the agent's smallest allowed one.
        sweeps: rounds over all agents.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.

    Ties: an agent keeps its action, or takes the smallest of better ones.
    """
    require_at_least(0, sweeps=sweeps)
    start = as_indices("actions", actions, np.shape(actions)[:1], None)
    problem = problem_on_edges(payoffs, edges, utilities, mask, len(start), start)
    return maximise(_solver(_known(edges), partial(_climb_from, sweeps), ITERATIONS), problem)


def _known(edges: Numbers) -> np.ndarray | None:
    return None if isinstance(edges, Tracer) else np.asarray(edges, np.int32).reshape(-1, 2)


# Actions and their value, in lanes, from graph, edges, payoffs, utilities, mask, and any start.
Search = Callable[..., tuple[Int32[Array, "n l"], Float[Array, " l"]]]


def _solver(
    known: np.ndarray | None, search: Search, iterations: int
) -> Callable[[Problem], Answer]:
    """The solver that searches, in lanes if the edges are known, and bounds the maximum."""

    def solve(problem: Problem) -> Answer:
        payoffs, utilities = without_loops(problem, known)
        edges = problem.edges if known is None else known
        graph = directed(edges, len(utilities))
        arrays = (payoffs, utilities, problem.mask)
        start = () if problem.start is None else (problem.start,)

        def bound(payoffs: Array, utilities: Array, mask: Array | None) -> Float[Array, " l"]:
            return upper_bound(graph, payoffs, utilities, mask, iterations)

        run = _one_lane
        if known is not None:
            run = partial(in_lanes, chunk=lanes_in_cache(2 * payoffs.size))
        actions, value = run(partial(search, graph, edges))(*arrays, *start)
        # Rounding can put the bound a hair below a value that is attained.
        return actions, value, jnp.maximum(run(bound)(*arrays), value)

    return solve


def _one_lane(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one example, whose plain `vmap` is fine: each example has its own edges."""

    def of_one(*arguments: Any) -> Any:
        result = function(*jax.tree.map(lambda x: x[..., None], arguments))
        return jax.tree.map(lambda x: x[..., 0], result)

    return of_one


def _pass_messages(
    iterations: int,
    sweeps: int,
    graph: Directed,
    edges: Any,
    payoffs: Float[Array, "e a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"] | None,
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    tables = both_ways(payoffs)
    from_allowed, to_allowed = (
        (None, None) if mask is None else (mask[graph.source], mask[graph.target])
    )

    def decide(beliefs: Float[Array, "n a l"]) -> tuple[Array, Array]:
        actions = best_actions(forbid(beliefs, mask))
        return actions, value_of(payoffs, edges, utilities, actions)

    def exchange(
        carry: tuple[Array, Array, Array, Array], _: None
    ) -> tuple[tuple[Array, Array, Array, Array], None]:
        messages, beliefs, actions, value = carry
        scores = forbid(beliefs[graph.source] - messages[graph.reverse], from_allowed)
        messages = _centre(best_replies(tables, scores), to_allowed)
        beliefs = utilities + sum_into(graph, messages)
        new, attained = decide(beliefs)
        better = attained > value
        actions = jnp.where(better[None], new, actions)
        return (messages, beliefs, actions, jnp.where(better, attained, value)), None

    silence = jnp.zeros((len(tables), *tables.shape[2:]), payoffs.dtype)
    actions, value = decide(utilities)
    if iterations:
        value = jnp.full_like(value, -jnp.inf)  # any answer with messages replaces it
        begin = (silence, utilities, actions, value)
        (_, _, actions, value), _ = jax.lax.scan(exchange, begin, None, length=iterations)
    if sweeps:
        actions = climb(graph, tables, utilities, mask, actions, sweeps)
        value = value_of(payoffs, edges, utilities, actions)
    return actions, value


def _climb_from(
    sweeps: int,
    graph: Directed,
    edges: Any,
    payoffs: Float[Array, "e a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"] | None,
    start: Int32[Array, "n l"],
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    actions = jnp.clip(start, 0, utilities.shape[1] - 1)
    if mask is not None:
        index = jax.lax.broadcasted_iota(jnp.int32, mask.shape, 1)
        allowed = (mask & (index == actions[:, None])).any(axis=1)
        actions = jnp.where(allowed, actions, best_actions(jnp.where(mask, 1.0, 0.0)))
    actions = climb(graph, both_ways(payoffs), utilities, mask, actions, sweeps)
    return actions, value_of(payoffs, edges, utilities, actions)


def _centre(messages: Float[Array, "k a l"], allowed: Array | None) -> Float[Array, "k a l"]:
    """Less the mean over allowed actions; 0 for the others, which are never read."""
    if allowed is None:
        return messages - messages.mean(axis=1, keepdims=True)
    count = jnp.maximum(allowed.sum(axis=1, keepdims=True, dtype=messages.dtype), 1)
    mean = jnp.where(allowed, messages, 0).sum(axis=1, keepdims=True) / count
    return jnp.where(allowed, messages - mean, 0)
