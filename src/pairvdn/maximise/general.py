"""What maximisers of arbitrary graphs share: lists of edges, and edges from an agent to itself."""

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from pairvdn.maximise.checks import Numbers, as_indices, as_mask, as_payoffs, as_utilities
from pairvdn.maximise.problem import Problem


def problem_on_edges(
    payoffs: Numbers,
    edges: Numbers,
    utilities: Numbers | None,
    mask: Numbers | None,
    num_agents: int | None,
) -> Problem:
    """Check the arguments; utilities of the result are never None."""
    payoffs = as_payoffs(payoffs, "e")
    if num_agents is None:
        num_agents = _count_agents(edges, utilities, mask)
    if num_agents < 1:
        raise ValueError(f"num_agents must be at least 1, got {num_agents}")
    shape = (num_agents, payoffs.shape[1])
    edges = as_indices("edges", edges, (payoffs.shape[0], 2), num_agents)
    utilities = as_utilities(utilities, shape)
    if utilities is None:
        utilities = jnp.zeros(shape, payoffs.dtype)
    return Problem(payoffs, edges, utilities, as_mask(mask, shape))


def _count_agents(edges: Numbers, utilities: Numbers | None, mask: Numbers | None) -> int:
    for known in (utilities, mask):
        if known is not None:
            return len(jnp.atleast_1d(jnp.asarray(known)))
    if isinstance(edges, Tracer):
        raise ValueError("num_agents must be given when edges are traced (inside jit or vmap)")
    if np.size(edges) == 0:
        raise ValueError("num_agents must be given when there are no edges")
    return int(np.max(np.asarray(edges))) + 1


def without_loops(problem: Problem) -> tuple[Float[Array, "e a a"], Float[Array, "n a"]]:
    """Payoffs and utilities of the same problem without edges (i, i): those become utilities."""
    assert problem.utilities is not None
    edges = problem.edges
    if not isinstance(edges, Tracer) and (np.diff(np.asarray(edges), axis=1) != 0).all():
        return problem.payoffs, problem.utilities
    first, second = edges[:, 0], edges[:, 1]
    loop = first == second
    diagonals = jnp.where(loop[:, None], jnp.einsum("eaa->ea", problem.payoffs), 0)
    utilities = problem.utilities.at[first].add(diagonals)
    return jnp.where(loop[:, None, None], 0, problem.payoffs), utilities
