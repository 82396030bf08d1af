"""An upper bound on the maximum over any graph, by max-sum diffusion."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.maximise.dynamic_programming import forbid

# What was moved from each edge to its first and to its second agent, by action.
Terms = tuple[Float[Array, "e a"], Float[Array, "e a"]]


def upper_bound(
    payoffs: Float[Array, "e a a"],
    edges: Int32[Array, "e 2"],
    utilities: Float[Array, "n a"],
    mask: Bool[Array, "n a"] | None,
    iterations: int,
) -> Float[Array, ""]:
    """A number that no allowed joint action exceeds; edges (i, i) must have been taken out.

    Moving terms d between an edge (i, j) and its agents changes no joint action's value, and what
    is left is bounded by maximising each part on its own:

        b_i(x)    = u_i(x) + sum of d_e(x) over the edges of i
        r_e(x, y) = payoffs[e, x, y] - d_e(x) - d_e(y)
        bound     = sum over i of max b_i  +  sum over e of max r_e

    Each iteration makes agents and edges agree better: half of every edge's maximum over the other
    end moves to each agent, which then shares all that it has equally among its edges (Kovalevsky
    and Koval's diffusion; Werner, "A linear programming approach to max-sum problem", 2007).
    The smallest bound seen counts; benchmarks/maximise.py prints how tight it is.
    """
    first, second = edges[:, 0], edges[:, 1]
    if mask is None:
        mask = jnp.ones_like(utilities, dtype=bool)
    allowed = mask[first], mask[second]
    both = allowed[0][:, :, None] & allowed[1][:, None, :]
    degree = jnp.zeros(len(utilities), payoffs.dtype).at[first].add(1).at[second].add(1)
    share = 1 / jnp.maximum(degree, 1)[:, None]

    def agents(terms: Terms) -> Float[Array, "n a"]:
        return utilities.at[first].add(terms[0]).at[second].add(terms[1])

    def rest(terms: Terms) -> Float[Array, "e a a"]:
        return forbid(payoffs - terms[0][:, :, None] - terms[1][:, None, :], both)

    def bound(terms: Terms) -> Float[Array, ""]:
        of_agents = forbid(agents(terms), mask).max(axis=1)
        return of_agents.sum() + rest(terms).max(axis=(1, 2)).sum()

    def diffuse(carry: tuple[Terms, Array], _: None) -> tuple[tuple[Terms, Array], None]:
        terms, smallest = carry
        left = rest(terms)
        # Forbidden actions have a maximum of -inf, which must not spread.
        terms = (
            terms[0] + jnp.where(allowed[0], left.max(axis=2), 0) / 2,
            terms[1] + jnp.where(allowed[1], left.max(axis=1), 0) / 2,
        )
        shared = agents(terms) * share
        terms = terms[0] - shared[first], terms[1] - shared[second]
        return (terms, jnp.minimum(smallest, bound(terms))), None

    nothing = jnp.zeros(payoffs.shape[:2], payoffs.dtype)
    apart = forbid(utilities, mask).max(axis=1).sum() + forbid(payoffs, both).max(axis=(1, 2)).sum()
    start = ((nothing, nothing), apart)
    (_, smallest), _ = jax.lax.scan(diffuse, start, None, length=iterations)
    return jnp.asarray(smallest)
