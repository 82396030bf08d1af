"""The problem that every maximiser solves, and the rules that all of them follow.

maximise   sum over edges e = (i, j) of payoffs[e, a_i, a_j]
         + sum over agents i of utilities[i, a_i]
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least
from pairvdn.maximise.checks import Numbers, as_array, as_indices, as_mask, as_payoffs, as_utilities
from pairvdn.maximise.graphs import chosen_sum
from pairvdn.types import Maximum

_MOST_ENTRIES = 1_000_000  # of utilities


class Problem(eqx.Module):
    """Tables on edges, with optional per-agent terms and allowed actions."""

    payoffs: Float[Array, "e a a"]
    edges: Int32[Array, "e 2"]
    utilities: Float[Array, "n a"] | None
    mask: Bool[Array, "n a"] | None
    start: Int32[Array, " n"] | None = None  # for methods that improve a given joint action


# The best actions, their value, and an upper bound.
Answer = tuple[Int32[Array, " n"], Float[Array, ""], Float[Array, ""]]
# Solves a problem whose forbidden entries are 0; `maximise` handles NaN and agents without an
# allowed action.
Solver = Callable[[Problem], Answer]


def exact(solve: Callable[[Problem], tuple[Array, Array]]) -> Solver:
    """The solver of an exact method, whose value is its own upper bound."""

    def solver(problem: Problem) -> Answer:
        actions, value = solve(problem)
        return actions, value, value

    return solver


def maximise(solver: Solver, problem: Problem) -> Maximum:
    """Solve; this is the one place with the rules for types, masks, NaN and gradients."""
    utilities = problem.utilities
    if utilities is not None and utilities.dtype != problem.payoffs.dtype:
        common = jnp.promote_types(problem.payoffs.dtype, utilities.dtype)
        payoffs, utilities = problem.payoffs.astype(common), utilities.astype(common)
        problem = Problem(payoffs, problem.edges, utilities, problem.mask, problem.start)
    actions, value, bound = _solve(solver, problem)
    return Maximum(actions, value, bound)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solve(solver: Solver, problem: Problem) -> Answer:
    clean = _forget_forbidden(problem)
    actions, value, bound = solver(clean)
    nan = jnp.isnan(clean.payoffs).any()
    if clean.utilities is not None:
        nan |= jnp.isnan(clean.utilities).any()
    value, bound = (jnp.where(nan, jnp.nan, x) for x in (value, bound))
    if problem.mask is not None:
        all_can_act = problem.mask.any(axis=1).all()
        value, bound = (jnp.where(all_can_act, x, -jnp.inf) for x in (value, bound))
    decided = ~jnp.isnan(value) & (value > -jnp.inf)
    return jnp.where(decided, actions, -1), value, bound


@_solve.defjvp
def _solve_jvp(
    solver: Solver, primals: tuple[Problem], tangents: tuple[Problem]
) -> tuple[tuple[Array, Array, Array], tuple[Any, Array, Array]]:
    """The derivative of a maximum is that of the chosen entries; no scan is differentiated.

    The bound is a certificate, not a training target: it has no gradient.
    """
    (problem,), (tangent,) = primals, tangents
    actions, value, bound = _solve(solver, problem)
    slope = chosen_sum(tangent.payoffs, problem.edges, tangent.utilities, actions)
    no_slope = jnp.zeros(actions.shape, jax.dtypes.float0)
    return (actions, value, bound), (no_slope, slope, jnp.zeros_like(bound))


def _forget_forbidden(problem: Problem) -> Problem:
    """Set entries that no allowed joint action reads to 0."""
    num_actions = problem.payoffs.shape[-1]
    first, second = problem.edges[:, 0], problem.edges[:, 1]
    # An edge (i, i) means the diagonal: agent i cannot take two actions at once.
    read = (first != second)[:, None, None] | jnp.eye(num_actions, dtype=bool)[None]
    utilities = problem.utilities
    if problem.mask is not None:
        read &= problem.mask[first, :, None] & problem.mask[second, None, :]
        utilities = None if utilities is None else jnp.where(problem.mask, utilities, 0)
    payoffs = jnp.where(read, problem.payoffs, 0)
    return Problem(payoffs, problem.edges, utilities, problem.mask, problem.start)


def problem_on_edges(
    payoffs: Numbers,
    edges: Numbers,
    utilities: Numbers | None,
    mask: Numbers | None,
    num_agents: int | None,
    start: Array | None = None,
) -> Problem:
    """The problem on a list of edges, checked; its utilities are never None."""
    payoffs = as_payoffs(payoffs, "e")
    if num_agents is None:
        num_agents = _count_agents(edges, utilities, mask)
    require_at_least(1, num_agents=num_agents)
    shape = (num_agents, payoffs.shape[1])
    if math.prod(shape) > _MOST_ENTRIES:
        raise ValueError(f"{num_agents} agents with {shape[1]} actions each are too many")
    edges = as_indices("edges", edges, (payoffs.shape[0], 2), num_agents)
    utilities = as_utilities(utilities, shape)
    if utilities is None:
        utilities = jnp.zeros(shape, payoffs.dtype)
    return Problem(payoffs, edges, utilities, as_mask(mask, shape), start)


def _count_agents(edges: Numbers, utilities: Numbers | None, mask: Numbers | None) -> int:
    for name, known in {"utilities": utilities, "mask": mask}.items():
        if known is not None:
            return len(jnp.atleast_1d(as_array(name, known)))
    if isinstance(edges, Tracer):
        raise ValueError("num_agents must be given when edges are traced (inside jit or vmap)")
    if as_array("edges", edges).size == 0:
        raise ValueError("num_agents must be given when there are no edges")
    as_indices("edges", edges, np.shape(edges), None)
    return int(np.max(np.asarray(edges))) + 1  # also inside jit, unlike an operation of JAX


def without_loops(
    problem: Problem, known: np.ndarray | None = None
) -> tuple[Float[Array, "e a a"], Float[Array, "n a"]]:
    """Payoffs and utilities of the same problem without edges (i, i): those become utilities.

    `known`: the same edges, if they are known before tracing; most graphs have no such edge.
    """
    assert problem.utilities is not None
    edges = problem.edges
    if known is not None and (known[:, 0] != known[:, 1]).all():
        return problem.payoffs, problem.utilities
    first, second = edges[:, 0], edges[:, 1]
    loop = first == second
    diagonals = jnp.where(loop[:, None], jnp.einsum("eaa->ea", problem.payoffs), 0)
    utilities = problem.utilities.at[first].add(diagonals)
    return jnp.where(loop[:, None, None], 0, problem.payoffs), utilities
