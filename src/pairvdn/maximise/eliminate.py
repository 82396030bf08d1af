"""Variable elimination: exact on any graph of small width, known before tracing.

Agents are eliminated one after the other. With S the agents that still share a table with v,

    M_v(S) = max over x of u_v(x) + sum of all tables that hold v

replaces v and its tables, and joins the tables of the first agent of S to be eliminated. At the
end only numbers are left; walking back, each agent takes the action that attained its maximum. The
largest table has a^(width + 1) entries; the order decides the width. Min-fill, which next takes the
agent whose elimination adds the fewest new edges, gives a good order, and the best one on trees,
rings and complete graphs. README.md in this folder draws it.
"""

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.lanes import in_lanes
from pairvdn.maximise.checks import Numbers
from pairvdn.maximise.dynamic_programming import first_best, forbid, lanes_in_cache
from pairvdn.maximise.problem import Problem, exact, maximise, problem_on_edges, without_loops
from pairvdn.types import Maximum

LIMIT = 2**16
_MOST_AXES = 10  # programs with more take long to compile

Edges = tuple[tuple[int, int], ...]


class Plan(NamedTuple):
    """The elimination order: at each step an agent, and the later agents that it then touches."""

    steps: tuple[tuple[int, tuple[int, ...]], ...]
    edges: Edges

    @property
    def width(self) -> int:
        """The most agents that an eliminated agent touches; the treewidth if the order is best."""
        return max(len(scope) for _, scope in self.steps)

    def cost(self, num_actions: int) -> int:
        """Additions and comparisons of one maximisation."""
        return sum(int(num_actions ** (len(scope) + 1)) for _, scope in self.steps)


def eliminate(
    payoffs: Numbers,
    edges: Numbers,
    *,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
    num_agents: int | None = None,
    limit: int = LIMIT,
) -> Maximum:
    """Maximise the sum over edges (i, j) of payoffs[e, a_i, a_j]; exact, O(n a^(width + 1)).

    The order of elimination is found once, from the edges. The compiled program grows with the
    number of edges.

    Args:
        payoffs: [e, a, a].
        edges: [e, 2], agents i and j of each table; (i, i) means the diagonal, double edges add.
            They must not be traced.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.
        num_agents: if not given, from utilities or mask, else the largest index + 1.
        limit: the most entries a^(width + 1) of the largest table; a wider graph, or one of width
            more than 10, is a ValueError.

    Ties: the smallest action of the agent eliminated last, then backwards the smallest of each
    agent given those.
    """
    if isinstance(edges, Tracer):
        raise ValueError("eliminate needs edges that are not traced (inside jit or vmap)")
    problem = problem_on_edges(payoffs, edges, utilities, mask, num_agents)
    assert problem.utilities is not None
    agents, actions = problem.utilities.shape
    known = tuple((int(i), int(j)) for i, j in np.reshape(np.asarray(edges), (-1, 2)))
    width = widest(actions, limit)
    plan = elimination_plan(known, agents, width)
    if plan is None:
        raise ValueError(
            f"eliminate takes graphs of width at most {width} with {actions} actions (tables of at "
            f"most {limit} entries); this graph of {agents} agents is wider: use max_plus"
        )
    return maximise(exact(functools.partial(_solve_by_elimination, plan)), problem)


def widest(num_actions: int, limit: int = LIMIT) -> int:
    """The largest width with a^(width + 1) of at most `limit`, and not too many axes to compile."""
    if num_actions == 1:
        return _MOST_AXES
    return min(_MOST_AXES, int(math.log(limit) / math.log(num_actions) + 1e-9) - 1)


@functools.cache
def elimination_plan(edges: Edges, num_agents: int, widest: int) -> Plan | None:
    """The min-fill order of a graph; None if its width is larger than `widest`."""
    near: dict[int, set[int]] = {agent: set() for agent in range(num_agents)}
    for i, j in edges:
        if i != j:
            near[i].add(j)
            near[j].add(i)

    def fill(agent: int) -> int:
        return sum(len(near[agent] - near[other]) - 1 for other in near[agent])

    taken: list[tuple[int, set[int]]] = []
    while near:
        # No order is narrower than the smallest degree of what is left.
        if min(map(len, near.values())) > widest:
            return None
        agent = min(near, key=lambda agent: (fill(agent), len(near[agent]), agent))
        scope = near.pop(agent)
        if len(scope) > widest:
            return None
        for other in scope:
            near[other] |= scope - {other}
            near[other].discard(agent)
        taken.append((agent, scope))
    turn = {agent: step for step, (agent, _) in enumerate(taken)}
    steps = ((agent, tuple(sorted(scope, key=turn.__getitem__))) for agent, scope in taken)
    return Plan(tuple(steps), edges)


def _solve_by_elimination(plan: Plan, problem: Problem) -> tuple[Array, Array]:
    payoffs, utilities = without_loops(problem, np.array(plan.edges, np.int32).reshape(-1, 2))
    chunk = lanes_in_cache(2 * payoffs.shape[1] ** plan.width)
    solve = in_lanes(functools.partial(_eliminate_in_lanes, plan), chunk=chunk)
    actions, value = solve(payoffs, utilities, problem.mask)
    return actions, value


# A table over the actions of agents, the first of which is the next to be eliminated.
_Factor = tuple[tuple[int, ...], Array]


def _eliminate_in_lanes(
    plan: Plan,
    payoffs: Float[Array, "e a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"] | None,
) -> tuple[Int32[Array, "n l"], Float[Array, " l"]]:
    waiting: dict[int, list[_Factor]] = {agent: [] for agent, _ in plan.steps}
    turn = {agent: step for step, (agent, _) in enumerate(plan.steps)}
    for edge, (i, j) in enumerate(plan.edges):
        if i != j:
            first, second = sorted((i, j), key=turn.__getitem__)
            table = payoffs[edge] if first == i else jnp.swapaxes(payoffs[edge], 0, 1)
            waiting[first].append(((first, second), table))
    value = jnp.zeros(payoffs.shape[-1:], payoffs.dtype)
    for agent, scope in plan.steps:
        allowed = None if mask is None else mask[agent]
        message = _best_over_first(utilities[agent], allowed, scope, waiting[agent])
        if scope:
            waiting[scope[0]].append((scope, message))
        else:
            value = value + message
    actions: dict[int, Int32[Array, " l"]] = {}
    for agent, _ in reversed(plan.steps):
        scores = utilities[agent]
        for (_, *others), table in waiting[agent]:
            scores = scores + _at(table, [actions[other] for other in others])
        actions[agent] = first_best(forbid(scores, None if mask is None else mask[agent]))
    return jnp.stack([actions[agent] for agent in sorted(actions)]), value


def _best_over_first(
    own: Float[Array, "a l"],
    allowed: Bool[Array, "a l"] | None,
    scope: tuple[int, ...],
    factors: list[_Factor],
) -> Float[Array, "*s l"]:
    """M(S): the best over the first agent's actions, one action at a time, so no sum is stored."""
    num_actions, lanes = own.shape
    shape = (*[num_actions] * len(scope), lanes)

    def aligned(factor: _Factor) -> Array:
        (_, *others), table = factor
        sizes = [num_actions if agent in others else 1 for agent in scope]
        return table.reshape(num_actions, *sizes, lanes)

    tables = [aligned(factor) for factor in factors]

    def score(x: Array) -> Float[Array, "*s l"]:
        total = jnp.broadcast_to(own[x].reshape(*[1] * len(scope), lanes), shape)
        for table in tables:
            total = total + table[x]
        if allowed is None:
            return total
        return forbid(total, allowed[x].reshape(*[1] * len(scope), lanes))

    def take_in(x: Array, best: Float[Array, "*s l"]) -> Float[Array, "*s l"]:
        return jnp.maximum(best, score(x))

    best: Array = jax.lax.fori_loop(1, num_actions, take_in, score(jnp.int32(0)))
    return best


def _at(table: Float[Array, "a *s l"], actions: list[Int32[Array, " l"]]) -> Float[Array, "a l"]:
    """The column of the table at these actions, for each lane."""
    num_actions, lanes = table.shape[0], table.shape[-1]
    index = jnp.zeros(lanes, jnp.int32)
    for action in actions:
        index = index * num_actions + action
    flat = table.reshape(num_actions, num_actions ** len(actions), lanes)
    return jnp.take_along_axis(flat, index[None, None], axis=1, mode="clip")[:, 0]
