"""The one form that every maximiser solves, and the rules that all of them keep.

maximise   sum over edges e = (i, j) of payoffs[e, a_i, a_j]
         + sum over agents i of utilities[i, a_i]
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.maximise.graphs import chosen_sum
from pairvdn.types import Maximum


class Problem(eqx.Module):
    """Tables on edges, with optional per-agent terms and allowed actions."""

    payoffs: Float[Array, "e a a"]
    edges: Int32[Array, "e 2"]
    utilities: Float[Array, "n a"] | None
    mask: Bool[Array, "n a"] | None


# What a method has to supply: the best actions, their value, and an upper bound, for a problem
# whose forbidden entries are 0. It need not care for NaN or for agents without an allowed action.
Solver = Callable[[Problem], tuple[Int32[Array, " n"], Float[Array, ""], Float[Array, ""]]]


def maximise(solver: Solver, problem: Problem) -> Maximum:
    """Solve, with the rules for nothing allowed, for NaN and for gradients in one place."""
    actions, value, bound = _solve(solver, problem)
    return Maximum(actions, value, bound)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solve(
    solver: Solver, problem: Problem
) -> tuple[Int32[Array, " n"], Float[Array, ""], Float[Array, ""]]:
    clean = _forget_forbidden(problem)
    actions, value, bound = solver(clean)
    nan = jnp.isnan(clean.payoffs).any()
    if clean.utilities is not None:
        nan |= jnp.isnan(clean.utilities).any()
    value, bound = (jnp.where(nan, jnp.nan, x) for x in (value, bound))
    if problem.mask is not None:
        nobody_stuck = problem.mask.any(axis=1).all()
        value, bound = (jnp.where(nobody_stuck, x, -jnp.inf) for x in (value, bound))
    decided = ~jnp.isnan(value) & (value > -jnp.inf)
    return jnp.where(decided, actions, -1), value, bound


@_solve.defjvp
def _solve_jvp(
    solver: Solver, primals: tuple[Problem], tangents: tuple[Problem]
) -> tuple[tuple[Array, Array, Array], tuple[Any, Array, Array]]:
    """The derivative of a maximum is that of the chosen entries; no scan is differentiated.

    The bound is a certificate, not something to train on: it has no gradient.
    """
    (problem,), (tangent,) = primals, tangents
    actions, value, bound = _solve(solver, problem)
    slope = chosen_sum(tangent.payoffs, problem.edges, tangent.utilities, actions)
    no_slope = jnp.zeros(actions.shape, jax.dtypes.float0)
    return (actions, value, bound), (no_slope, slope, jnp.zeros_like(bound))


def _forget_forbidden(problem: Problem) -> Problem:
    """Set entries that no allowed joint action reads to 0, whatever they held."""
    num_actions = problem.payoffs.shape[-1]
    first, second = problem.edges[:, 0], problem.edges[:, 1]
    # An edge (i, i) stands for the diagonal: agent i cannot take two actions at once.
    read = (first != second)[:, None, None] | jnp.eye(num_actions, dtype=bool)[None]
    utilities = problem.utilities
    if problem.mask is not None:
        read &= problem.mask[first, :, None] & problem.mask[second, None, :]
        utilities = None if utilities is None else jnp.where(problem.mask, utilities, 0)
    return Problem(jnp.where(read, problem.payoffs, 0), problem.edges, utilities, problem.mask)
