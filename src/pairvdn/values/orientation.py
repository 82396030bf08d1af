"""Graphs with at most one cycle per component: every edge gets an owner, so maxima are exact."""

from collections.abc import Callable, Sequence
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.types import Maximum

Form = Literal["path", "ring", "tree", "successor"]


class Orientation(eqx.Module):
    """A graph as a successor graph: every agent owns at most one edge, and every edge has an owner.

    This is possible exactly if no component has more than one cycle (rings, trees, forests, trees
    on a ring). `form` names the cheapest maximiser that is exact for the graph.
    """

    owned: Int32[Array, " n"]  # the edge that an agent owns, 0 if it owns none
    owns: Bool[Array, " n"]
    backwards: Bool[Array, " n"]  # the owner is the edge's second end
    successors: Int32[Array, " n"]  # the other end of an agent's edge, or itself
    order: Int32[Array, " n"]  # the agents along a path or ring
    form: Form = eqx.field(static=True)

    def __init__(self, edges: np.ndarray, owners: Sequence[int], num_agents: int) -> None:
        owned = np.zeros(num_agents, np.int32)
        owns = np.zeros(num_agents, bool)
        successors = np.arange(num_agents, dtype=np.int32)
        for edge, owner in enumerate(owners):
            owned[owner], owns[owner] = edge, True
            successors[owner] = edges[edge].sum() - owner
        self.form, order = _form(successors, owns)
        if self.form == "tree":  # one tree: other roots hang on the first, with a table of 0
            successors = np.where(owns, successors, np.flatnonzero(~owns)[0]).astype(np.int32)
        self.owned, self.owns = jnp.asarray(owned), jnp.asarray(owns)
        self.backwards = jnp.asarray(edges[owned, 0] != np.arange(num_agents))
        self.successors, self.order = jnp.asarray(successors), jnp.asarray(order)

    def tables(self, payoffs: Float[Array, "e a a"]) -> Float[Array, "n a a"]:
        """Each agent's table of (its own action, its successor's), 0 if it owns no edge."""
        own = payoffs[self.owned]
        turned = jnp.where(self.backwards[:, None, None], own.mT, own)
        return jnp.where(self.owns[:, None, None], turned, 0.0)

    def maximum(
        self,
        payoffs: Float[Array, "e a a"],
        utilities: Float[Array, "n a"] | None,
        mask: Bool[Array, "n a"],
    ) -> Maximum:
        """The exact maximum over the graph."""
        own = self.tables(payoffs)
        if self.form == "ring":
            return along(maximise.ring, self.order, own[self.order], utilities, mask)
        if self.form == "path":
            return along(maximise.path, self.order, own[self.order[:-1]], utilities, mask)
        solve = maximise.tree if self.form == "tree" else maximise.successor
        return solve(own, self.successors, utilities=utilities, mask=mask)


def along(
    solve: Callable[..., Maximum],
    order: Int32[Array, " n"],
    payoffs: Float[Array, "e a a"],
    utilities: Float[Array, "n a"] | None,
    mask: Bool[Array, "n a"],
) -> Maximum:
    """The maximum of `ring` or `path` through the agents in this order, which is the payoffs'."""
    utilities = None if utilities is None else utilities[order]
    best = solve(payoffs, utilities=utilities, mask=mask[order])
    actions = jnp.zeros_like(best.actions).at[order].set(best.actions)
    return Maximum(actions, best.value, best.bound)


def _form(successors: np.ndarray, owns: np.ndarray) -> tuple[Form, np.ndarray]:
    """The form of a successor graph, and the agents along it if it is a path or a ring."""
    everyone = np.arange(len(owns), dtype=np.int32)
    ends = successors
    for _ in range(len(owns).bit_length()):
        ends = ends[ends]
    sources = np.setdiff1d(everyone, successors[owns])  # agents that nobody points to
    first = sources[0] if len(sources) else 0
    walk = [int(first)]
    while len(walk) < len(owns):
        walk.append(int(successors[walk[-1]]))
    visits_all = len(set(walk)) == len(owns)
    if not owns[ends].any():
        return ("path" if visits_all else "tree"), np.array(walk, np.int32)
    is_ring = visits_all and owns.all() and successors[walk[-1]] == first
    return ("ring" if is_ring else "successor"), np.array(walk, np.int32)


def orient(edges: np.ndarray, num_agents: int) -> Orientation | None:
    """Find an owner for every edge; None if a component has more than one cycle."""
    owners = [-1] * len(edges)
    free = set(range(num_agents))  # agents that own nothing yet
    waiting = {agent: set[int]() for agent in free}  # edges without owner, at each end
    for edge, ends in enumerate(edges.tolist()):
        for agent in ends:
            waiting[agent].add(edge)
    reached = -1  # the other end of the last edge: a path is walked from end to end
    for _ in range(len(edges)):
        # An agent with a single remaining edge can safely own it. Without such an agent, all free
        # agents with edges are on cycles, and any of them may start.
        candidates = [agent for agent in free if waiting[agent]]
        if not candidates:
            return None
        owner = min(candidates, key=lambda agent: (len(waiting[agent]), agent != reached, agent))
        edge = min(waiting[owner])
        owners[edge] = owner
        free.remove(owner)
        reached = int(edges[edge].sum()) - owner
        for agent in edges[edge].tolist():
            waiting[agent].discard(edge)
    return Orientation(edges, owners, num_agents)
