"""The oracle: try every joint action."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.maximise.checks import Numbers
from pairvdn.maximise.dynamic_programming import forbid
from pairvdn.maximise.problem import Problem, exact, maximise, problem_on_edges
from pairvdn.types import Maximum

LIMIT = 10_000_000


def brute_force(
    payoffs: Numbers,
    edges: Numbers,
    *,
    utilities: Numbers | None = None,
    mask: Numbers | None = None,
    num_agents: int | None = None,
) -> Maximum:
    """Maximise the sum over edges (i, j) of payoffs[e, a_i, a_j] by trying all a^n joint actions.

    Args:
        payoffs: [e, a, a].
        edges: [e, 2], agents i and j of each table; (i, i) means the diagonal, double edges add.
        utilities: [n, a], added for each agent's own action.
        mask: [n, a], False where an action is not allowed.
        num_agents: if not given, from utilities or mask, else the largest index + 1.

    Ties: the lexicographically smallest joint action.
    """
    problem = problem_on_edges(payoffs, edges, utilities, mask, num_agents)
    assert problem.utilities is not None
    agents, actions = problem.utilities.shape
    digits = agents * math.log10(actions)  # the number itself may have millions
    if digits > math.log10(LIMIT) + 1e-9:
        many = f"{10 ** (digits % 1):.1f}e+{int(digits):02d}"
        raise ValueError(
            f"brute_force would try {actions}^{agents} = {many} joint actions, more than "
            f"{LIMIT:.0e}; use ring, path, tree or successor (exact), or max_plus"
        )
    return maximise(_solve_brute_force, problem)


@exact
def _solve_brute_force(problem: Problem) -> tuple[Int32[Array, " n"], Float[Array, ""]]:
    assert problem.utilities is not None
    num_agents, num_actions = problem.utilities.shape
    joint = jnp.arange(num_actions**num_agents, dtype=jnp.int32)
    # Agent i's action in joint action number k is digit i of k written in base a.
    place_values = jnp.asarray(
        [num_actions**i for i in reversed(range(num_agents))], dtype=jnp.int32
    )

    def digit(k: Int32[Array, " k"], agent: Int32[Array, ""]) -> Int32[Array, " k"]:
        return k // place_values[agent] % num_actions

    def add_edge(total: Array, x: tuple[Array, Array]) -> tuple[Array, None]:
        table, edge = x
        return total + table[digit(joint, edge[0]), digit(joint, edge[1])], None

    def add_agent(total: Array, x: tuple[Array, Array, Array | None]) -> tuple[Array, None]:
        agent, own, allowed = x
        actions = digit(joint, agent)
        return forbid(total + own[actions], None if allowed is None else allowed[actions]), None

    total = jnp.zeros(joint.shape, problem.payoffs.dtype)
    total, _ = jax.lax.scan(add_edge, total, (problem.payoffs, problem.edges))
    agents = jnp.arange(num_agents, dtype=jnp.int32)
    total, _ = jax.lax.scan(add_agent, total, (agents, problem.utilities, problem.mask))
    best = jnp.argmax(total).astype(jnp.int32)
    return best // place_values % num_actions, total.max()
