"""Rings and paths: dynamic programming along a chain of agents (the paper's appendix A)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.lanes import in_lanes
from pairvdn.maximise.checks import Numbers, as_mask, as_payoffs, as_utilities
from pairvdn.maximise.dynamic_programming import best_onward, first_best, forbid, pick
from pairvdn.maximise.graphs import path_edges, ring_edges
from pairvdn.maximise.problem import Problem, exact, maximise
from pairvdn.types import Maximum


def ring(
    payoffs: Numbers, *, utilities: Numbers | None = None, mask: Numbers | None = None
) -> Maximum:
    """Maximise the sum over i of payoffs[i, a_i, a_(i+1 mod n)]; exact, O(n a^3).

    With G_2(a_1, a_2) = payoffs[1, a_1, a_2] and

        G_(k+1)(a_1, a_(k+1)) = max over a_k of G_k(a_1, a_k) + payoffs[k, a_k, a_(k+1)]

    the maximum is that of G_n(a_1, a_n) + payoffs[n, a_n, a_1]; backtracking gives the actions.
    n = 1 means the diagonal, n = 2 two edges between the same two agents.

    Args:
        payoffs: [n, a, a], agent i's table over (a_i, a_(i+1)).
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.

    Ties: the smallest a_1, then the smallest a_n, then backwards from a_(n-1) to a_2 the smallest.
    """
    payoffs = as_payoffs(payoffs, "n", least=1)
    shape = payoffs.shape[:2]
    problem = Problem(
        payoffs, ring_edges(shape[0]), as_utilities(utilities, shape), as_mask(mask, shape)
    )
    return maximise(_solve_ring, problem)


def path(
    payoffs: Numbers, *, utilities: Numbers | None = None, mask: Numbers | None = None
) -> Maximum:
    """Maximise the sum over i < n of payoffs[i, a_i, a_(i+1)]; exact, O(n a^2).

    Args:
        payoffs: [n-1, a, a], the table of agents i and i+1.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.

    Ties: the smallest a_n, then backwards from a_(n-1) to a_1 the smallest.
    """
    payoffs = as_payoffs(payoffs, "n-1")
    shape = (payoffs.shape[0] + 1, payoffs.shape[1])
    problem = Problem(
        payoffs, path_edges(shape[0]), as_utilities(utilities, shape), as_mask(mask, shape)
    )
    return maximise(_solve_path, problem)


_solve_ring = exact(lambda problem: _ring_in_lanes(*_arrays(problem)))
_solve_path = exact(lambda problem: _path_in_lanes(*_arrays(problem)))


def _arrays(problem: Problem) -> tuple[Array, Array | None, Array | None]:
    return problem.payoffs, problem.utilities, problem.mask


@in_lanes
def _ring_in_lanes(
    payoffs: Float[Array, "n a a l"],
    utilities: Float[Array, "n a l"] | None,
    mask: Bool[Array, "n a l"] | None,
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    num_agents, num_actions = payoffs.shape[:2]
    tables = payoffs if utilities is None else payoffs + utilities[:, :, None]
    if num_agents == 1:
        diagonal = forbid(jnp.einsum("aal->al", tables[0]), None if mask is None else mask[0])
        best = first_best(diagonal)
        return best[None], diagonal.max(axis=0)
    start, between = tables[0], tables[1:-1]
    if mask is not None:
        start = forbid(start, mask[1][None])
    end, partial = _eliminate(start, between, None if mask is None else mask[2:])
    closed = end + jnp.swapaxes(tables[-1], 0, 1)
    if mask is not None:
        closed = forbid(closed, mask[0][:, None])
    best = first_best(closed.reshape(num_actions**2, -1))
    first, last = best // num_actions, best % num_actions
    inner = _backtrack(partial, between, first, last)
    return jnp.concatenate([first[None], inner, last[None]]), closed.max(axis=(0, 1))


@in_lanes
def _path_in_lanes(
    payoffs: Float[Array, "m a a l"],
    utilities: Float[Array, "n a l"] | None,
    mask: Bool[Array, "n a l"] | None,
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    num_actions, lanes = payoffs.shape[2:]
    if utilities is None:
        utilities = jnp.zeros((payoffs.shape[0] + 1, num_actions, lanes), payoffs.dtype)
    tables = payoffs + utilities[1:, None]
    start = forbid(utilities[:1], None if mask is None else mask[:1])
    end, partial = _eliminate(start, tables, None if mask is None else mask[1:])
    last = first_best(end[0])
    inner = _backtrack(partial, tables, jnp.zeros_like(last), last)
    return jnp.concatenate([inner, last[None]]), end[0].max(axis=0)


def _eliminate(
    start: Float[Array, "c a l"],
    tables: Float[Array, "m a a l"],
    mask: Bool[Array, "m a l"] | None,
) -> tuple[Float[Array, "c a l"], Float[Array, "m c a l"]]:
    """G after the last table, and G before each; `c` is the condition of the whole chain.

    A ring is conditioned on the first agent's action, a path on nothing (c = 1).
    """

    def forward(
        best: Float[Array, "c a l"], x: tuple[Array, Array | None]
    ) -> tuple[Float[Array, "c a l"], Float[Array, "c a l"]]:
        table, allowed = x
        onward = best_onward(best, table)
        return forbid(onward, None if allowed is None else allowed[None]), best

    return jax.lax.scan(forward, start, (tables, mask))


def _backtrack(
    partial: Float[Array, "m c a l"],
    tables: Float[Array, "m a a l"],
    condition: Int32[Array, " l"],
    last: Int32[Array, " l"],
) -> Int32[Array, "m l"]:
    """The action before each table, from the last to the first, given the action after it."""

    def backward(
        later: Int32[Array, " l"], x: tuple[Array, Array]
    ) -> tuple[Int32[Array, " l"], Int32[Array, " l"]]:
        best, table = x
        earlier = first_best(pick(best, condition, axis=0) + pick(table, later, axis=1))
        return earlier, earlier

    return jax.lax.scan(backward, last, (partial, tables), reverse=True)[1]
