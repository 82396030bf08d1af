"""An upper bound on the maximum over any graph, in lanes."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.maximise.directed import Directed, best_replies, both_ways, sum_into
from pairvdn.maximise.dynamic_programming import forbid


def upper_bound(
    graph: Directed,
    payoffs: Float[Array, "e a a l"],
    utilities: Float[Array, "n a l"],
    mask: Bool[Array, "n a l"] | None,
    iterations: int,
) -> Float[Array, " l"]:
    """A number that no allowed joint action exceeds; edges (i, i) must have tables of 0.

    Moving terms d between an edge (i, j) and its agents does not change the value of any joint
    action, and maximising each part separately bounds the sum:

        b_i(x)    = u_i(x) + sum of d_e(x) over the edges of i
        r_e(x, y) = payoffs[e, x, y] - d_e(x) - d_e(y)
        bound     = sum over i of max b_i  +  sum over e of max r_e

    Each iteration makes agents and edges agree better: half of every edge's maximum over the other
    end moves to each agent, which then divides its sum equally among its edges (Kovalevsky
    and Koval's diffusion; Werner, "A linear programming approach to max-sum problem", 2007).
    The smallest bound seen counts; benchmarks/maximise.py prints how tight it is.
    """
    num_edges, tables = len(payoffs), both_ways(payoffs)
    if mask is None:
        mask = jnp.ones(utilities.shape, dtype=bool)
    at_source, at_target = mask[graph.source], mask[graph.target]
    degree = jnp.asarray(graph.counts).sum(axis=1, dtype=payoffs.dtype)
    share = (1 / jnp.maximum(degree, 1))[:, None, None]

    def parts(terms: Float[Array, "k a l"]) -> tuple[Array, Array]:
        """Each edge's maximum over its source, and the bound."""
        agents = utilities + sum_into(graph, terms)
        left = best_replies(tables, forbid(-terms[graph.reverse], at_source)) - terms
        of_edges = forbid(left[:num_edges], at_target[:num_edges]).max(axis=1).sum(axis=0)
        return left, forbid(agents, mask).max(axis=1).sum(axis=0) + of_edges

    def diffuse(
        carry: tuple[Array, Array], _: None
    ) -> tuple[tuple[Float[Array, "k a l"], Float[Array, " l"]], None]:
        terms, smallest = carry
        left, bound = parts(terms)
        # Forbidden actions have a maximum of -inf, which must not spread.
        terms = terms + jnp.where(at_target, left, 0) / 2
        shared = (utilities + sum_into(graph, terms)) * share
        return (terms - shared[graph.target], jnp.minimum(smallest, bound)), None

    nothing = jnp.zeros((2 * num_edges, *payoffs.shape[2:]), payoffs.dtype)
    start = nothing, jnp.full(payoffs.shape[-1:], jnp.inf, payoffs.dtype)
    (terms, smallest), _ = jax.lax.scan(diffuse, start, None, length=iterations)
    return jnp.minimum(smallest, parts(terms)[1])
