"""Graphs: the pairs of agents, and the maximisation of a sum over them."""

import abc
from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.checks import require_above, require_at_least, require_one_of
from pairvdn.maximise.eliminate import Edges, elimination_plan, widest
from pairvdn.maximise.max_plus import ITERATIONS, SWEEPS
from pairvdn.types import Maximum, PRNGKey
from pairvdn.values.base import Inputs
from pairvdn.values.layout import below_or_beside, left_to_right, nearest
from pairvdn.values.orientation import Orientation, along, orient

# Computes the tables of all ordered pairs in a separate pass.
TablesOfAllPairs = Callable[[], Float[Array, "n n a a"]]


class Pairs(eqx.Module):
    """Q(a) = Σ_e payoffs[e, a_i, a_j] for edges e = (i, j), plus Σ_i utilities[i, a_i] if any."""

    edges: Int32[Array, "e 2"]
    payoffs: Float[Array, "e a a"]
    utilities: Float[Array, "n a"] | None

    def scaled(self, factors: Float[Array, " e"]) -> "Pairs":
        """Each table times its factor."""
        return Pairs(self.edges, factors[:, None, None] * self.payoffs, self.utilities)

    def mean(self) -> "Pairs":
        """The mean of the tables plus the mean of the utilities, instead of their sums."""
        utilities = None if self.utilities is None else self.utilities / self.utilities.shape[0]
        return Pairs(self.edges, self.payoffs / self.payoffs.shape[0], utilities)


class Maximiser(NamedTuple):
    """How a value finds its best joint action."""

    name: str
    exact: bool

    def __str__(self) -> str:
        return f"{self.name} ({'exact' if self.exact else 'approximate, with an upper bound'})"


class Graph(eqx.Module):
    """The pairs of agents, fixed or chosen at every step, and the maximum over them.

    A graph may have parameters. The number of edges is fixed.
    """

    @abc.abstractmethod
    def edges(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, "e 2"]:
        """The pairs for these inputs; a graph may depend on `all_tables`."""

    @abc.abstractmethod
    def maximum(self, pairs: Pairs, mask: Bool[Array, "n a"]) -> Maximum:
        """The maximum over all allowed joint actions, for pairs with the edges of this graph."""

    @abc.abstractmethod
    def maximiser(self, num_actions: int) -> Maximiser:
        """The function that computes `maximum` for agents with so many actions."""


class RingGraph(Graph):
    """From every agent to the next in an order, and from the last to the first."""

    @abc.abstractmethod
    def order(self, inputs: Inputs) -> Int32[Array, " n"]:
        """The agents in the order of the ring."""

    def edges(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, "n 2"]:
        """The k-th edge leads from the k-th agent of the order to the next."""
        order = self.order(inputs)
        return jnp.stack([order, jnp.roll(order, -1)], axis=1)

    def maximum(self, pairs: Pairs, mask: Bool[Array, "n a"]) -> Maximum:
        """Exact; the paper, appendix A."""
        return along(maximise.ring, pairs.edges[:, 0], pairs.payoffs, pairs.utilities, mask)

    def maximiser(self, num_actions: int) -> Maximiser:
        """Dynamic programming along the ring."""
        return Maximiser("ring", exact=True)


class FixedRing(RingGraph):
    """A ring in a fixed order, which is saved with the model but never trained."""

    agents: Int32[Array, " n"]

    def __init__(self, order: str | Sequence[int], num_agents: int, *, key: PRNGKey) -> None:
        everyone = jnp.arange(num_agents, dtype=jnp.int32)
        if isinstance(order, str):
            require_one_of(("index", "random", "a list of agents"), order=order)
            random = order == "random"
            self.agents = jax.random.permutation(key, everyone) if random else everyone
            return
        if sorted(order) != list(range(num_agents)):
            raise ValueError(
                f"order must name each of the {num_agents} agents 0 to {num_agents - 1} once, "
                f"not {list(order)}."
            )
        self.agents = jnp.asarray(order, dtype=jnp.int32)

    def order(self, inputs: Inputs) -> Int32[Array, " n"]:
        """The same at every step."""
        return self.agents


class SortedRing(RingGraph):
    """A ring through the agents from left to right, or column by column with a `column_gap`."""

    column_gap: float | None = eqx.field(static=True)

    def __check_init__(self) -> None:
        if self.column_gap is not None:
            require_above(0, column_gap=self.column_gap)

    def order(self, inputs: Inputs) -> Int32[Array, " n"]:
        """See `layout.left_to_right`."""
        return left_to_right(inputs.require_positions(), self.column_gap)


class PartnerGraph(Graph):
    """An edge from every agent to the partner that it chooses."""

    @abc.abstractmethod
    def partners(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, " n"]:
        """The partner of every agent."""

    def edges(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, "n 2"]:
        """The i-th edge leads from agent i to its partner."""
        return maximise.successor_edges(self.partners(inputs, all_tables))

    def maximum(self, pairs: Pairs, mask: Bool[Array, "n a"]) -> Maximum:
        """Exact: every component has one cycle."""
        successors = pairs.edges[:, 1]
        return maximise.successor(pairs.payoffs, successors, utilities=pairs.utilities, mask=mask)

    def maximiser(self, num_actions: int) -> Maximiser:
        """Dynamic programming along trees and cycles."""
        return Maximiser("successor", exact=True)


class Nearest(PartnerGraph):
    """The partner is the nearest other agent; ties go to the smaller index."""

    def partners(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, " n"]:
        """See `layout.nearest`."""
        return nearest(inputs.require_positions())


class Below(PartnerGraph):
    """The partner is the agent below in the same column, or the foot of the next column."""

    column_gap: float = eqx.field(static=True)

    def __check_init__(self) -> None:
        require_above(0, column_gap=self.column_gap)

    def partners(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, " n"]:
        """See `layout.below_or_beside`."""
        return below_or_beside(inputs.require_positions(), self.column_gap)


class WidestSpread(PartnerGraph):
    """The partner is the agent j whose action matters most for the table with agent i.

    argmax_j max_(a_i) [max_(a_j) Q_ij - min_(a_j) Q_ij]; the choice has no gradient.
    """

    def partners(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, " n"]:
        """Compute the tables of all pairs and compare them."""
        tables = jax.lax.stop_gradient(all_tables())
        spreads = (tables.max(axis=3) - tables.min(axis=3)).max(axis=2)
        itself = jnp.eye(spreads.shape[0], dtype=bool)
        return jnp.argmax(jnp.where(itself, -jnp.inf, spreads), axis=1).astype(jnp.int32)


class FixedGraph(Graph):
    """Fixed edges, maximised by the cheapest exact method, else by max-plus.

    In this order: `path`, `ring`, `tree`, `successor` (at most one cycle per component),
    `eliminate` (small width). `graph` is a name or a list of edges. `exact=False` always uses
    max-plus, with `iterations` rounds of messages.
    """

    fixed_edges: Int32[Array, "e 2"]
    orientation: Orientation | None
    known: Edges = eqx.field(static=True)  # the same edges, known before tracing
    exact: bool = eqx.field(static=True)
    iterations: int = eqx.field(static=True)

    def __init__(
        self,
        graph: str | Sequence[Sequence[int]],
        num_agents: int,
        *,
        exact: bool = True,
        iterations: int = ITERATIONS,
    ) -> None:
        require_at_least(1, iterations=iterations)
        edges = graph_edges(graph, num_agents)
        self.fixed_edges, self.exact, self.iterations = jnp.asarray(edges), exact, iterations
        self.known = tuple((int(i), int(j)) for i, j in edges)
        self.orientation = orient(edges, num_agents) if exact else None

    def edges(self, inputs: Inputs, all_tables: TablesOfAllPairs) -> Int32[Array, "e 2"]:
        """The same at every step."""
        return self.fixed_edges

    def maximum(self, pairs: Pairs, mask: Bool[Array, "n a"]) -> Maximum:
        """The exact maximum if the graph allows it, else the best joint action of max-plus."""
        payoffs, utilities = pairs.payoffs, pairs.utilities
        if self.orientation is not None:
            return self.orientation.maximum(payoffs, utilities, mask)
        if self._width(*mask.shape) is not None:
            return maximise.eliminate(payoffs, self.known, utilities=utilities, mask=mask)
        return maximise.max_plus(
            payoffs, self.known, iterations=self.iterations, utilities=utilities, mask=mask
        )

    def maximiser(self, num_actions: int) -> Maximiser:
        """The cheapest exact method for these edges, else max-plus."""
        if self.orientation is not None:
            return Maximiser(self.orientation.form, exact=True)
        width = self._width(1 + max(map(max, self.known)), num_actions)
        if width is not None:
            return Maximiser(f"eliminate, width {width}", exact=True)
        name = f"max_plus, {self.iterations} iterations and {SWEEPS} sweeps"
        return Maximiser(name, exact=False)

    def _width(self, num_agents: int, num_actions: int) -> int | None:
        """The width of the elimination; None if it is too wide, or exactness is not wanted."""
        plan = elimination_plan(self.known, num_agents, widest(num_actions)) if self.exact else None
        return None if plan is None else plan.width


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
        require_one_of((*_NAMED, "a list of edges"), graph=graph)
        edges = np.stack(_NAMED[graph](num_agents), axis=1)
    else:
        edges = np.asarray(graph)
    if edges.ndim != 2 or edges.shape[1] != 2 or not len(edges):
        raise ValueError(
            f"graph must be a list of at least one edge (i, j), not of shape {edges.shape}."
        )
    if edges.min() < 0 or edges.max() >= num_agents:
        raise ValueError(f"graph must join agents 0 to {num_agents - 1}, not {edges.tolist()}.")
    return edges.astype(np.int32)
