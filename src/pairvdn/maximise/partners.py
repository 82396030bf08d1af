"""Maxima of sums in which every agent counts only its best partners, in lanes.

maximise   sum over i of u_i(a_i)  +  sum over i of the k largest q_ij(a_i, a_j), j other agents

Given the actions the partners are clear; given one partner each, `successor` is exact. Alternating
never loses, but can end in a joint action that is best only for its partners, so several starts and
coordinate ascent on the true sum follow.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.lanes import in_lanes
from pairvdn.maximise.directed import best_actions
from pairvdn.maximise.dynamic_programming import forbid, lanes_in_cache, pick
from pairvdn.maximise.forest import successor_in_lanes

ROUNDS, SWEEPS = 2, 2


def best_partners(
    payoffs: Float[Array, "n n a a"],
    utilities: Float[Array, "n a"],
    mask: Bool[Array, "n a"],
    *,
    partners: int = 1,
    foes: bool = False,
    rounds: int = ROUNDS,
    sweeps: int = SWEEPS,
) -> Int32[Array, " n"]:
    """The best joint action found from two starts; approximate.

    The first partner of each agent is the one with the largest `strengths` of either kind.

    Args:
        payoffs: [n, n, a, a] with payoffs[i, j, x, y] = payoffs[j, i, y, x]; entries that are not
            allowed must be finite, and the tables of (i, i) are ignored.
        utilities: [n, a].
        mask: [n, a], False where an action is not allowed.
        partners: how many of its largest entries an agent counts.
        foes: an agent counts its largest positive and its smallest negative entries instead.
        rounds: how often actions and partners are found in turn from each start.
        sweeps: rounds of coordinate ascent afterwards.
    """
    chunk = lanes_in_cache(payoffs.size)
    search = partial(_search, partners, foes, rounds, sweeps)
    actions: Int32[Array, " n"] = in_lanes(search, chunk=chunk)(payoffs, utilities, mask)
    return actions


def strengths(payoffs: Float[Array, "n n a a"], mask: Bool[Array, "n a"]) -> Float[Array, "2 n n"]:
    """Two guesses at which pairs matter, from their allowed entries.

    The largest entry of each table, and the largest entry of its interaction: the table less its
    means over rows and columns. Arguments as those of `best_partners`.
    """
    both: Float[Array, "2 n n"] = in_lanes(_strengths, chunk=lanes_in_cache(payoffs.size))(
        payoffs, mask
    )
    return both


def _strengths(
    payoffs: Float[Array, "n n a a l"], mask: Bool[Array, "n a l"]
) -> Float[Array, "2 n n l"]:
    allowed = mask[:, None, :, None] & mask[None, :, None, :]
    tables = jnp.where(allowed, payoffs, 0)
    count = jnp.maximum(mask.sum(axis=1, dtype=tables.dtype), 1)
    # Means over the actions of the other; by symmetry they are also those over one's own.
    means = tables.sum(axis=3) / count[None, :, None]
    interaction = tables - means[:, :, :, None] - jnp.swapaxes(means, 0, 1)[:, :, None]
    return jnp.stack([forbid(x, allowed).max(axis=(2, 3)) for x in (tables, interaction)])


def _search(
    partners: int,
    foes: bool,
    rounds: int,
    sweeps: int,
    payoffs: Float[Array, "n n a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"],
) -> Int32[Array, "n l"]:
    def solve(partner: Int32[Array, "n l"]) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
        def alternate(
            partner: Int32[Array, "n l"], _: None
        ) -> tuple[Int32[Array, "n l"], Int32[Array, "n l"]]:
            index = partner[:, None, None, None]
            tables = jnp.take_along_axis(payoffs, index, axis=1, mode="clip")[:, 0]
            actions = successor_in_lanes(tables, partner, utilities, mask)[0]
            return _best_others(_entries(payoffs, actions)), actions

        _, actions = jax.lax.scan(alternate, partner, None, length=rounds)
        return _climb(partners, foes, sweeps, payoffs, utilities, mask, actions[-1])

    starts = jnp.stack([_best_others(guess) for guess in _strengths(payoffs, mask)])
    found, values = jax.lax.map(solve, starts)
    best = jnp.argmax(values, axis=0)[None, None]
    return jnp.take_along_axis(found, best, axis=0, mode="clip")[0]


def _best_others(scores: Float[Array, "n n l"]) -> Int32[Array, "n l"]:
    """The other agent with the largest score of each agent."""
    return best_actions(forbid(scores, _different(scores)))


def _different(x: Float[Array, "n n l"]) -> Bool[Array, "n n 1"]:
    return ~jnp.eye(len(x), dtype=bool)[:, :, None]


def _entries(
    payoffs: Float[Array, "n n a a l"], actions: Int32[Array, "n l"]
) -> Float[Array, "n n l"]:
    """The entry of each pair for these actions.

    A look-up, not `pick`: it reads n² numbers, where comparisons would read n² a².
    """
    n, lanes = actions.shape
    agents, lane = jnp.arange(n), jnp.arange(lanes)[None, None]
    first, second = agents[:, None, None], agents[None, :, None]
    return payoffs.at[first, second, actions[:, None], actions[None], lane].get(mode="clip")


def _climb(
    partners: int,
    foes: bool,
    sweeps: int,
    payoffs: Float[Array, "n n a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"],
    actions: Int32[Array, "n l"],
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    """Coordinate ascent on the true sum; the actions and their value."""
    agents = jnp.arange(len(utilities), dtype=jnp.int32)

    def move(
        carry: tuple[Array, Array], x: tuple[Array, Array, Array, Array]
    ) -> tuple[tuple[Array, Array], None]:
        actions, entries = carry
        agent, tables, own, allowed = x
        replies = pick(tables, actions[:, None, None], axis=2)  # j, x: the entries with each agent
        others = (agents != agent)[:, None, None]
        gained = _sum_of_partners(jnp.where(others, replies, 0), others, partners, foes, axis=0)
        # What the others count changes too: their entry with this agent is part of their choice.
        rest = others[:, 0, None] & others[None, :, 0] & _different(entries)
        theirs = _with_one_more(entries, rest, replies, partners, foes)
        scores = forbid(own + gained + jnp.where(others, theirs, 0).sum(axis=0), allowed)
        now, reply = actions[agent], best_actions(scores[None])[0]
        better = pick(scores, reply, axis=0) > pick(scores, now, axis=0)
        new = jnp.where(better, reply, now)
        actions = jax.lax.dynamic_update_index_in_dim(actions, new, agent, 0)
        column = pick(replies, new[None], axis=1)
        entries = jax.lax.dynamic_update_index_in_dim(entries, column, agent, 0)
        entries = jax.lax.dynamic_update_index_in_dim(entries, column, agent, 1)
        return (actions, entries), None

    def sweep(_: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.lax.scan(move, carry, (agents, payoffs, utilities, mask))[0]

    start = actions, _entries(payoffs, actions)
    actions, entries = jax.lax.fori_loop(0, sweeps, sweep, start)
    counted = _sum_of_partners(entries, _different(entries), partners, foes, axis=1)
    return actions, counted.sum(axis=0) + pick(utilities, actions[:, None], axis=1).sum(axis=0)


def _sum_of_partners(x: Array, real: Array, partners: int, foes: bool, axis: int) -> Array:
    """The sum of the entries along `axis` that an agent counts."""
    if partners >= x.shape[axis] - 1:
        return jnp.where(real, x, 0).sum(axis=axis)
    if not foes:
        return _largest(jnp.where(real, x, -jnp.inf), partners, axis)[0]
    positive, negative = (jnp.where(real, jnp.maximum(y, 0), 0) for y in (x, -x))
    return _largest(positive, partners, axis)[0] - _largest(negative, partners, axis)[0]


def _with_one_more(
    entries: Float[Array, "n n l"],
    rest: Bool[Array, "n n 1"],
    more: Float[Array, "n a l"],
    partners: int,
    foes: bool,
) -> Float[Array, "n a l"]:
    """The sum that each agent counts among the `rest` of its row and one more entry.

    With S the sum of the k largest of the rest and t the smallest of these, S + max(0, more - t).
    """
    if partners >= len(entries) - 1:
        return jnp.where(rest, entries, 0).sum(axis=1)[:, None] + more

    def joined(x: Array, more: Array) -> Array:
        total, smallest = _largest(x, partners, axis=1)
        return total[:, None] + jnp.maximum(0, more - smallest[:, None])

    if not foes:
        return joined(jnp.where(rest, entries, -jnp.inf), more)
    positive, negative = (jnp.where(rest, jnp.maximum(y, 0), 0) for y in (entries, -entries))
    return joined(positive, jnp.maximum(more, 0)) - joined(negative, jnp.maximum(-more, 0))


def _largest(x: Array, count: int, axis: int) -> tuple[Array, Array]:
    """The sum of the `count` largest numbers along an axis, and the smallest of them."""
    if count == 1:
        largest = x.max(axis=axis)
        return largest, largest
    positions = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)

    def take(_: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        left, total, _ = carry
        largest = left.max(axis=axis, keepdims=True)
        first = jnp.where(left == largest, positions, x.shape[axis]).min(axis=axis, keepdims=True)
        return jnp.where(positions == first, -jnp.inf, left), total + largest, largest

    nothing = jnp.zeros_like(x.max(axis=axis, keepdims=True))
    _, total, smallest = jax.lax.fori_loop(0, count, take, (x, nothing, nothing))
    return total.squeeze(axis), smallest.squeeze(axis)
