"""Max-plus message passing on any graph, with a certificate of how far off it can be."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least
from pairvdn.maximise.checks import Numbers
from pairvdn.maximise.dynamic_programming import forbid
from pairvdn.maximise.graphs import chosen_sum
from pairvdn.maximise.problem import (
    Answer,
    Problem,
    maximise,
    problem_on_edges,
    without_loops,
)
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
    agent takes its best b_i; the best joint action so far is kept. On a tree with a unique
    maximum the answer is exact after as many iterations as the longest path has edges. `bound` is
    an upper bound on the true maximum, from as many iterations of diffusion (`upper_bound`); it is
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
    require_at_least(0, iterations=iterations)
    problem = problem_on_edges(payoffs, edges, utilities, mask, num_agents)
    return maximise(partial(_solve_max_plus, iterations), problem)


def _solve_max_plus(iterations: int, problem: Problem) -> Answer:
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
    """Less the mean over allowed actions; 0 for the others, which are never read."""
    if allowed is None:
        return messages - messages.mean(axis=1, keepdims=True)
    count = jnp.maximum(allowed.sum(axis=1, keepdims=True, dtype=messages.dtype), 1)
    mean = jnp.where(allowed, messages, 0).sum(axis=1, keepdims=True) / count
    return jnp.where(allowed, messages - mean, 0)


# The terms moved from each edge to its first and its second agent, by action.
Terms = tuple[Float[Array, "e a"], Float[Array, "e a"]]


def upper_bound(
    payoffs: Float[Array, "e a a"],
    edges: Int32[Array, "e 2"],
    utilities: Float[Array, "n a"],
    mask: Bool[Array, "n a"] | None,
    iterations: int,
) -> Float[Array, ""]:
    """A number that no allowed joint action exceeds; there must be no edges (i, i).

    Moving terms d between an edge (i, j) and its agents does not change the value of any joint
    action, and maximising each part separately bounds the sum:

        b_i(x)    = u_i(x) + sum of d_e(x) over the edges of i
        r_e(x, y) = payoffs[e, x, y] - d_e(x) - d_e(y)
        bound     = sum over i of max b_i  +  sum over e of max r_e

    Each iteration makes agents and edges agree better: half of every edge's maximum over the other
    end moves to each agent, which then divides its sum equally among its edges (Kovalevsky
    and Koval's diffusion; Werner, "A linear programming approach to max-sum problem", 2007).
    The smallest bound seen counts; benchmarks/maximise.py prints how tight it is.
    """
    first, second = edges[:, 0], edges[:, 1]
    if mask is None:
        mask = jnp.ones_like(utilities, dtype=bool)
    allowed = mask[first], mask[second]
    both = allowed[0][:, :, None] & allowed[1][:, None, :]
    degree = jnp.zeros(len(utilities), payoffs.dtype).at[first].add(1).at[second].add(1)
    share = 1 / jnp.maximum(degree, 1)[:, None]

    def agents(terms: Terms) -> Float[Array, "n a"]:
        return utilities.at[first].add(terms[0]).at[second].add(terms[1])

    def rest(terms: Terms) -> Float[Array, "e a a"]:
        return forbid(payoffs - terms[0][:, :, None] - terms[1][:, None, :], both)

    def bound(terms: Terms) -> Float[Array, ""]:
        of_agents = forbid(agents(terms), mask).max(axis=1)
        return of_agents.sum() + rest(terms).max(axis=(1, 2)).sum()

    def diffuse(carry: tuple[Terms, Array], _: None) -> tuple[tuple[Terms, Array], None]:
        terms, smallest = carry
        left = rest(terms)
        # Forbidden actions have a maximum of -inf, which must not spread.
        terms = (
            terms[0] + jnp.where(allowed[0], left.max(axis=2), 0) / 2,
            terms[1] + jnp.where(allowed[1], left.max(axis=1), 0) / 2,
        )
        shared = agents(terms) * share
        terms = terms[0] - shared[first], terms[1] - shared[second]
        return (terms, jnp.minimum(smallest, bound(terms))), None

    nothing = jnp.zeros(payoffs.shape[:2], payoffs.dtype)
    apart = forbid(utilities, mask).max(axis=1).sum() + forbid(payoffs, both).max(axis=(1, 2)).sum()
    start = ((nothing, nothing), apart)
    (_, smallest), _ = jax.lax.scan(diffuse, start, None, length=iterations)
    return jnp.asarray(smallest)
