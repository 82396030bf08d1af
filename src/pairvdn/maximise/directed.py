"""Every edge in both directions, for methods that pass messages along any graph, in lanes.

Directed edge k leads from `source[k]` to `target[k]`; edge e of the problem is directed edge e one
way and e + (number of edges) the other way. Edges that are known before tracing give short lists
of the edges into each agent; traced edges give lists of all edges, most of which do not count.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.maximise.dynamic_programming import forbid, pick


class Directed(NamedTuple):
    """The directed edges, and for each agent the list of those that lead to it."""

    source: Any  # Int32 [k]: of NumPy if the edges are known
    target: Any  # Int32 [k]
    reverse: np.ndarray  # Int32 [k]: the same edge the other way
    into: Any  # Int32 [n, d]: the edges into each agent, filled up with edge 0
    counts: Any  # Bool [n, d]: False for the fillers


def directed(edges: Any, num_agents: int) -> Directed:
    """The directed edges of int[e, 2]."""
    traced = isinstance(edges, Tracer)
    ends: Any = edges if traced else np.asarray(edges, np.int32).reshape(-1, 2)
    source, target = ends.T.reshape(-1), ends[:, ::-1].T.reshape(-1)
    reverse = np.roll(np.arange(len(source), dtype=np.int32), len(ends))
    if traced:
        every = np.broadcast_to(np.arange(len(source), dtype=np.int32), (num_agents, len(source)))
        agents = jnp.arange(num_agents, dtype=jnp.int32)
        return Directed(source, target, reverse, every, target[None] == agents[:, None])
    lists = [np.flatnonzero(target == agent) for agent in range(num_agents)]
    longest = max(map(len, lists))
    into = np.zeros((num_agents, longest), np.int32)
    counts = np.zeros((num_agents, longest), bool)
    for agent, own in enumerate(lists):
        into[agent, : len(own)], counts[agent, : len(own)] = own, True
    return Directed(source, target, reverse, into, counts)


def both_ways(payoffs: Float[Array, "e a a l"]) -> Float[Array, "k a a l"]:
    """The table of each directed edge over (action of its source, action of its target)."""
    return jnp.concatenate([payoffs, jnp.swapaxes(payoffs, 1, 2)])


def sum_into(graph: Directed, messages: Float[Array, "k a l"]) -> Float[Array, "n a l"]:
    """For each agent the sum of the messages to it.

    List position by list position: a scatter goes through the messages one at a time.
    """
    into, counts = jnp.asarray(graph.into), jnp.asarray(graph.counts)

    def add(position: Array, total: Float[Array, "n a l"]) -> Float[Array, "n a l"]:
        return total + jnp.where(counts[:, position, None, None], messages[into[:, position]], 0)

    nothing = jnp.zeros((into.shape[0], *messages.shape[1:]), messages.dtype)
    total: Array = jax.lax.fori_loop(0, into.shape[1], add, nothing)
    return total


def best_replies(
    tables: Float[Array, "k a a l"], scores: Float[Array, "k a l"]
) -> Float[Array, "k a l"]:
    """Max over the source's action x of scores[k, x] + tables[k, x, y]."""
    return (scores[:, :, None] + tables).max(axis=1)


def best_actions(scores: Float[Array, "n a l"]) -> Int32[Array, "n l"]:
    """The smallest best action of each agent and lane, action by action."""

    def compare(x: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        best, actions = carry
        better = scores[:, x] > best
        return jnp.where(better, scores[:, x], best), jnp.where(better, x, actions)

    start = scores[:, 0], jnp.zeros(scores[:, 0].shape, jnp.int32)
    actions: Array = jax.lax.fori_loop(jnp.int32(1), jnp.int32(scores.shape[1]), compare, start)[1]
    return actions


def value_of(
    payoffs: Float[Array, "e a a l"],
    edges: Any,
    utilities: Float[Array, "n a l"],
    actions: Int32[Array, "n l"],
) -> Float[Array, " l"]:
    """The value of one joint action per lane."""
    rows = _pick_each(payoffs, actions[edges[:, 0]])
    return _pick_each(rows, actions[edges[:, 1]]).sum(axis=0) + _pick_each(utilities, actions).sum(
        axis=0
    )


def _pick_each(x: Float[Array, "m a *r l"], index: Int32[Array, "m l"]) -> Float[Array, "m *r l"]:
    """x[m, index[m]] for each lane."""
    return pick(x, index.reshape(index.shape[0], *[1] * (x.ndim - 2), index.shape[1]), axis=1)


def climb(
    graph: Directed,
    tables: Float[Array, "k a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"] | None,
    actions: Int32[Array, "n l"],
    sweeps: int,
) -> Int32[Array, "n l"]:
    """Let one agent after the other take its best reply, if it is better; `sweeps` rounds.

    The value never decreases. Agents move in turn, so two that would make the same change at once
    and spoil it for each other do not.
    """
    source = jnp.asarray(graph.source)

    def move(
        actions: Int32[Array, "n l"], x: tuple[Array, Array, Array, Array, Array | None]
    ) -> tuple[Int32[Array, "n l"], None]:
        agent, into, counts, own, allowed = x
        replies = _pick_each(tables[into], actions[source[into]])
        scores = own + jnp.where(counts[:, None, None], replies, 0).sum(axis=0)
        scores = forbid(scores, allowed)
        now = actions[agent]
        reply = best_actions(scores[None])[0]
        better = pick(scores, reply, axis=0) > pick(scores, now, axis=0)
        new = jnp.where(better, reply, now)
        return jax.lax.dynamic_update_index_in_dim(actions, new, agent, 0), None

    agents = jnp.arange(len(utilities), dtype=jnp.int32)
    steps = (agents, jnp.asarray(graph.into), jnp.asarray(graph.counts), utilities, mask)

    def sweep(_: Array, actions: Int32[Array, "n l"]) -> Int32[Array, "n l"]:
        return jax.lax.scan(move, actions, steps)[0]

    after: Array = jax.lax.fori_loop(0, sweeps, sweep, actions)
    return after
