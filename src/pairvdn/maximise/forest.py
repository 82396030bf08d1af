"""Trees, and the paper's graph of successors: cycles with trees hanging on them (appendix A.1).

Every agent i points to one agent f(i). Then each connected part of the graph has exactly one
cycle. Cut it at its smallest agent, the ROOT: the rest is a tree of agents pointing towards the
root, and the root's own edge is left over. Condition everything on the root's action c:

    G_v(c, x) = u_v(x) + sum of messages to v,      M_v(c, y) = max over x of G_v(c, x) + Q_v(x, y)

Agent v sends M_v to f(v); the root sends its left-over edge, M_r(c, y) = Q_r(c, y), down to f(r).
With all messages received, the maximum of the part is max over c of G_r(c, c). A tree is the same
without a condition. README.md in this folder draws it.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.lanes import in_lanes
from pairvdn.maximise.checks import Numbers, as_indices, as_mask, as_payoffs, as_utilities
from pairvdn.maximise.dynamic_programming import best_onward, forbid, lanes_in_cache, pick
from pairvdn.maximise.graphs import successor_edges
from pairvdn.maximise.order import Order, elimination_order, lookup
from pairvdn.maximise.problem import Problem, exact, maximise
from pairvdn.types import Maximum


def successor(
    payoffs: Numbers,
    successors: Numbers,
    *,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
) -> Maximum:
    """Maximise the sum over i of payoffs[i, a_i, a_successors[i]]; exact for every such graph.

    O(n a^3) for any number of cycles with trees on them. Successors are traced data: a new graph
    needs no new compilation, and each example of a batch may have its own.

    Args:
        payoffs: [n, a, a], agent i's table over (a_i, a_successors[i]).
        successors: [n], the successor of each agent; itself means the diagonal.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.

    Ties: the smallest action at each root, then, away from the roots, the smallest of each agent
    given the action of the agent that it points to.
    """
    payoffs = as_payoffs(payoffs, "n", least=1)
    shape = payoffs.shape[:2]
    successors = as_indices("successors", successors, shape[:1], shape[0])
    problem = Problem(
        payoffs, successor_edges(successors), as_utilities(utilities, shape), as_mask(mask, shape)
    )
    return maximise(_solve_successor, problem)


def tree(
    payoffs: Numbers,
    parents: Numbers,
    *,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
) -> Maximum:
    """Maximise the sum over i of payoffs[i, a_i, a_parents[i]] on a tree; exact, O(n a^2).

    Args:
        payoffs: [n, a, a], agent i's table over (a_i, a_parents[i]); the root's is ignored.
        parents: [n], the root is its own parent. May be traced; then it must be one tree.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.

    Ties: the smallest action of the root, then the smallest of each agent given its parent's.
    """
    payoffs = as_payoffs(payoffs, "n", least=1)
    shape = payoffs.shape[:2]
    parents = as_indices("parents", parents, shape[:1], shape[0])
    _require_one_tree(parents)
    is_root = parents == jnp.arange(shape[0], dtype=jnp.int32)
    problem = Problem(
        jnp.where(is_root[:, None, None], 0, payoffs),
        successor_edges(parents),
        as_utilities(utilities, shape),
        as_mask(mask, shape),
    )
    return maximise(_solve_tree, problem)


def _require_one_tree(parents: Int32[Array, " n"]) -> None:
    if isinstance(parents, Tracer):
        return
    ancestors = concrete = np.asarray(parents)
    for _ in range(len(concrete).bit_length()):
        ancestors = ancestors[ancestors]
    roots = np.flatnonzero(concrete == np.arange(len(concrete)))
    if len(roots) != 1 or (ancestors != roots[0]).any():
        raise ValueError(
            f"parents must be one tree whose root is its own parent, got {concrete.tolist()}"
        )


_solve_successor = exact(lambda problem: _in_chunks(successor_in_lanes, problem))
_solve_tree = exact(lambda problem: _in_chunks(_tree_in_lanes, problem))


def _in_chunks(solve: Callable[..., Any], problem: Problem) -> Any:
    """In chunks of lanes whose tables and sums fit a cache."""
    chunk = lanes_in_cache(2 * problem.payoffs.size)
    return in_lanes(solve, chunk=chunk)(*_arrays(problem))


def _arrays(problem: Problem) -> tuple[Array, Array, Array | None, Array | None]:
    return problem.payoffs, problem.edges[:, 1], problem.utilities, problem.mask


def successor_in_lanes(
    payoffs: Float[Array, "n a a l"],
    successors: Int32[Array, "n l"],
    utilities: Float[Array, "n a l"] | None,
    mask: Bool[Array, "n a l"] | None,
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    """The actions and the value of `successor`, with the batch as the last axis."""
    order = elimination_order(successors)
    parts = _in_order(order, payoffs, utilities, mask)
    sums = _collect(order, parts, parts.tables)
    return _decide(order, parts, sums, jnp.einsum("nccl->ncl", sums))


def _tree_in_lanes(
    payoffs: Float[Array, "n a a l"],
    parents: Int32[Array, "n l"],
    utilities: Float[Array, "n a l"] | None,
    mask: Bool[Array, "n a l"] | None,
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    order = elimination_order(parents)
    parts = _in_order(order, payoffs, utilities, mask)
    nothing = jnp.zeros((payoffs.shape[0], 1, *payoffs.shape[2:]), payoffs.dtype)
    sums = _collect(order, parts, nothing)
    return _decide(order, parts, sums, sums[:, 0])


class _Parts(eqx.Module):
    """The arrays of the problem, permuted into elimination order."""

    tables: Float[Array, "n a a l"]
    utilities: Float[Array, "n a l"] | None
    mask: Bool[Array, "n a l"] | None


def _in_order(order: Order, payoffs: Array, utilities: Array | None, mask: Array | None) -> _Parts:
    def move(x: Array | None) -> Array | None:
        return None if x is None else lookup(x, order.agents)

    return _Parts(lookup(payoffs, order.agents), move(utilities), move(mask))


def _received(sums: Float[Array, "n *s l"], last_child: Int32[Array, "m l"]) -> Array:
    """The sum of the messages of all children, which is stored at the last child, if any."""
    some = (last_child >= 0).reshape(len(last_child), *[1] * (sums.ndim - 2), -1)
    return jnp.where(some, lookup(sums, jnp.maximum(last_child, 0)), 0)


def _collect(
    order: Order, parts: _Parts, closing: Float[Array, "n c a l"]
) -> Float[Array, "n c a l"]:
    """Send all messages; each position holds the sum of those to its parent, up to this sibling.

    Siblings are adjacent in the order, so their messages add up in the carry. At its position a
    root sends its left-over edge; the messages that it receives are complete only at the end.
    """

    def send(
        carry: tuple[Array, Array], x: tuple[Array, _Parts, Array, Array, Array, Array]
    ) -> tuple[tuple[Array, Array], None]:
        sums, running = carry
        k, own, close, last_child, is_root, is_first = x
        score = _received(sums, last_child[None])[0]
        if own.utilities is not None:
            score = score + own.utilities[None]
        score = forbid(score, None if own.mask is None else own.mask[None])
        message = best_onward(score, own.tables)
        message = jnp.where(is_root, close, message)
        running = message + jnp.where(is_first, 0, running)
        return (jax.lax.dynamic_update_index_in_dim(sums, running, k, 0), running), None

    nothing_sent = (jnp.zeros_like(closing), jnp.zeros_like(closing[0]))
    positions = jnp.arange(len(closing))
    steps = (positions, parts, closing, order.last_child, order.is_root, order.is_first)
    return jax.lax.scan(send, nothing_sent, steps)[0][0]


def _decide(
    order: Order,
    parts: _Parts,
    sums: Float[Array, "n c a l"],
    root_sums: Float[Array, "n a l"],
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    """Choose at the roots, then away from them, each agent after the one it points to."""
    num_agents, num_conditions, num_actions, lanes = sums.shape

    def scores(received: Float[Array, "n a l"]) -> Float[Array, "n a l"]:
        if parts.utilities is not None:
            received = received + parts.utilities
        return forbid(received, parts.mask)

    root_scores = scores(_received(root_sums, order.last_child))
    value = jnp.where(order.is_root, root_scores.max(axis=1), 0).sum(axis=0)
    root_actions = jnp.argmax(root_scores, axis=1).astype(jnp.int32)
    # With the roots decided, only one row of each table of sums matters.
    condition = jnp.minimum(lookup(root_actions, order.root), num_conditions - 1)
    rows = sums.reshape(num_agents * num_conditions, num_actions, lanes)
    row = jnp.where(order.last_child < 0, -1, order.last_child * num_conditions + condition)
    own_scores = scores(_received(rows, row))
    responses = jnp.argmax(own_scores[:, :, None] + parts.tables, axis=1).astype(jnp.int32)

    def choose(
        actions: Int32[Array, "n l"], x: tuple[Array, Array, Array, Array]
    ) -> tuple[Int32[Array, "n l"], None]:
        position, response, parent, is_root = x
        best = pick(response, lookup(actions, parent[None])[0], axis=0)
        best = jnp.where(is_root, actions[position], best)
        return jax.lax.dynamic_update_index_in_dim(actions, best, position, 0), None

    positions = jnp.arange(num_agents)
    steps = (positions, responses, order.parent, order.is_root)
    actions, _ = jax.lax.scan(choose, root_actions, steps, reverse=True)
    return lookup(actions, order.positions), value
