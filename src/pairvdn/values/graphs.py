"""Graphs of agents by name or given, and how to maximise on one exactly where that is cheap."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

# Every named graph as (i, j) index arrays for n agents.
_NAMED: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "ring": lambda n: (np.arange(n), (np.arange(n) + 1) % n),
    "path": lambda n: (np.arange(n - 1), np.arange(1, n)),
    "star": lambda n: (np.zeros(n - 1, int), np.arange(1, n)),
    "complete": lambda n: np.triu_indices(n, k=1),
}


def graph_edges(graph: str | Sequence[Sequence[int]], num_agents: int) -> np.ndarray:
    """The edges int[e, 2] of a named graph, or the given ones, checked."""
    if isinstance(graph, str):
        if graph not in _NAMED:
            known = ", ".join(map(repr, _NAMED))
            raise ValueError(f"graph must be one of {known} or a list of edges, not {graph!r}.")
        edges = np.stack(_NAMED[graph](num_agents), axis=1)
    else:
        edges = np.asarray(graph)
    if edges.ndim != 2 or edges.shape[1] != 2 or not len(edges):
        raise ValueError(
            f"graph must have at least one edge (i, j), but its edges have shape {edges.shape}."
        )
    if edges.min() < 0 or edges.max() >= num_agents:
        raise ValueError(
            f"The edges of graph must join agents 0 to {num_agents - 1}, but are {edges.tolist()}."
        )
    return edges.astype(np.int32)


class Orientation(eqx.Module):
    """A graph seen as a successor graph: every edge is owned by one of its ends, each by another.

    That is possible exactly where no component has more than one cycle (rings, trees, forests,
    trees on a ring), and there `maximise.successor` is exact.
    """

    owned: Int32[Array, " n"]  # the edge that an agent owns, 0 where it owns none
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
        """Each agent's table of (its own action, its successor's), 0 for one that owns no edge."""
        own = payoffs[self.owned]
        turned = jnp.where(self.backwards[:, None, None], own.mT, own)
        return jnp.where(self.owns[:, None, None], turned, 0.0)


def orient(edges: np.ndarray, num_agents: int) -> Orientation | None:
    """Find an owner for every edge, or None where a component has more than one cycle."""
    owners = [-1] * len(edges)
    free = set(range(num_agents))  # agents that own nothing yet
    waiting = {agent: set[int]() for agent in free}  # edges without owner, at each end
    for edge, ends in enumerate(edges.tolist()):
        for agent in ends:
            waiting[agent].add(edge)
    for _ in range(len(edges)):
        # An agent with a single edge left may own it without taking it from another; where there
        # is none, all free agents with edges are on cycles, and any of them may begin.
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
