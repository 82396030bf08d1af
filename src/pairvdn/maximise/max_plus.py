"""Max-plus message passing on any graph, with a certificate of how far off it can be."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.maximise.bound import upper_bound
from pairvdn.maximise.checks import Numbers
from pairvdn.maximise.dynamic_programming import forbid
from pairvdn.maximise.general import problem_on_edges, without_loops
from pairvdn.maximise.graphs import chosen_sum
from pairvdn.maximise.problem import Problem, maximise
from pairvdn.types import Maximum


def max_plus(
    payoffs: Numbers,
    edges: Numbers,
    *,
    iterations: int = 8,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
    num_agents: int | None = None,
) -> Maximum:
    """Maximise the sum over edges (i, j) of payoffs[e, a_i, a_j], approximately.

    Messages run along every edge in both directions at once, as in Deep Coordination Graphs:

        m_ij(y) = max over x of payoffs[e, x, y] + b_i(x) - m_ji(x)
        b_i(x)  = u_i(x) + sum of the messages to i

    less their mean, so that they stay bounded on graphs with cycles. After each iteration every
    agent takes its best b_i; the best joint action seen so far is kept. On a tree with a unique
    maximum the answer is exact after as many iterations as the longest path has edges. `bound` is
    an upper bound on the true maximum, from as many iterations of diffusion (bound.py); it is
    computed only if it is used.

    Args:
        payoffs: [e, a, a].
        edges: [e, 2], agents i and j of each table; (i, i) means the diagonal, double edges add.
        iterations: rounds of messages; 8 in Deep Coordination Graphs.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.
        num_agents: if not given, from utilities or mask, else the largest index + 1.

    Ties: each agent the smallest of its best actions; the first joint action seen stays.
    """
    if iterations < 0:
        raise ValueError(f"iterations must be at least 0, got {iterations}")
    problem = problem_on_edges(payoffs, edges, utilities, mask, num_agents)
    return maximise(partial(_solve_max_plus, iterations), problem)


def _solve_max_plus(
    iterations: int, problem: Problem
) -> tuple[Int32[Array, " n"], Float[Array, ""], Float[Array, ""]]:
    payoffs, utilities = without_loops(problem)
    start, end = problem.edges[:, 0], problem.edges[:, 1]
    mask = problem.mask
    allowed_start, allowed_end = (None, None) if mask is None else (mask[start], mask[end])

    def beliefs(to_end: Float[Array, "e a"], to_start: Float[Array, "e a"]) -> Array:
        return utilities.at[end].add(to_end).at[start].add(to_start)

    def decide(to_end: Float[Array, "e a"], to_start: Float[Array, "e a"]) -> tuple[Array, Array]:
        actions = jnp.argmax(forbid(beliefs(to_end, to_start), mask), axis=1).astype(jnp.int32)
        return actions, chosen_sum(payoffs, problem.edges, utilities, actions)

    def exchange(
        carry: tuple[Array, Array, Array, Array], _: None
    ) -> tuple[tuple[Array, Array, Array, Array], None]:
        to_end, to_start, best_actions, best_value = carry
        belief = beliefs(to_end, to_start)
        from_start = forbid(belief[start] - to_start, allowed_start)
        from_end = forbid(belief[end] - to_end, allowed_end)
        to_end = _centre((payoffs + from_start[:, :, None]).max(axis=1), allowed_end)
        to_start = _centre((payoffs + from_end[:, None, :]).max(axis=2), allowed_start)
        actions, value = decide(to_end, to_start)
        better = value > best_value
        actions = jnp.where(better, actions, best_actions)
        return (to_end, to_start, actions, jnp.where(better, value, best_value)), None

    silence = jnp.zeros(payoffs.shape[:2], payoffs.dtype)
    if iterations == 0:
        actions, value = decide(silence, silence)
    else:
        nothing_seen = (jnp.zeros(len(utilities), jnp.int32), jnp.asarray(-jnp.inf, payoffs.dtype))
        begin = (silence, silence, *nothing_seen)
        (_, _, actions, value), _ = jax.lax.scan(exchange, begin, None, length=iterations)
    bound = upper_bound(payoffs, problem.edges, utilities, mask, iterations)
    # Rounding can put the bound a hair below a value that is attained.
    return actions, value, jnp.maximum(bound, value)


def _centre(messages: Float[Array, "e a"], allowed: Array | None) -> Float[Array, "e a"]:
    """Less the mean over allowed actions; 0 for the others, which nobody reads."""
    if allowed is None:
        return messages - messages.mean(axis=1, keepdims=True)
    count = jnp.maximum(allowed.sum(axis=1, keepdims=True, dtype=messages.dtype), 1)
    mean = jnp.where(allowed, messages, 0).sum(axis=1, keepdims=True) / count
    return jnp.where(allowed, messages - mean, 0)
