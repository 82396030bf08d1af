"""Successor form of a graph: every edge is owned by one of its ends, so maxima are exact."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32


class Orientation(eqx.Module):
    """A graph as a successor graph: every agent owns at most one edge, and every edge has an owner.

    This is possible exactly if no component has more than one cycle (rings, trees, forests, trees
    on a ring); `maximise.successor` is then exact.
    """

    owned: Int32[Array, " n"]  # the edge that an agent owns, 0 if it owns none
    owns: Bool[Array, " n"]
    backwards: Bool[Array, " n"]  # the owner is the edge's second end
    successors: Int32[Array, " n"]  # the other end of an agent's edge, or itself

    def __init__(self, edges: np.ndarray, owners: Sequence[int], num_agents: int) -> None:
        owned = np.zeros(num_agents, np.int32)
        owns = np.zeros(num_agents, bool)
        successors = np.arange(num_agents, dtype=np.int32)
        for edge, owner in enumerate(owners):
            owned[owner], owns[owner] = edge, True
            successors[owner] = edges[edge].sum() - owner
        self.owned, self.owns = jnp.asarray(owned), jnp.asarray(owns)
        self.backwards = jnp.asarray(edges[owned, 0] != np.arange(num_agents))
        self.successors = jnp.asarray(successors)

    def tables(self, payoffs: Float[Array, "e a a"]) -> Float[Array, "n a a"]:
        """Each agent's table of (its own action, its successor's), 0 if it owns no edge."""
        own = payoffs[self.owned]
        turned = jnp.where(self.backwards[:, None, None], own.mT, own)
        return jnp.where(self.owns[:, None, None], turned, 0.0)


def orient(edges: np.ndarray, num_agents: int) -> Orientation | None:
    """Find an owner for every edge; None if a component has more than one cycle."""
    owners = [-1] * len(edges)
    free = set(range(num_agents))  # agents that own nothing yet
    waiting = {agent: set[int]() for agent in free}  # edges without owner, at each end
    for edge, ends in enumerate(edges.tolist()):
        for agent in ends:
            waiting[agent].add(edge)
    for _ in range(len(edges)):
        # An agent with a single remaining edge can safely own it. Without such an agent, all free
        # agents with edges are on cycles, and any of them may start.
        candidates = [agent for agent in free if waiting[agent]]
        if not candidates:
            return None
        owner = min(candidates, key=lambda agent: (len(waiting[agent]), agent))
        edge = min(waiting[owner])
        owners[edge] = owner
        free.remove(owner)
        for agent in edges[edge].tolist():
            waiting[agent].discard(edge)
    return Orientation(edges, owners, num_agents)
