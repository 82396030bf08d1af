"""Coordination graphs as lists of edges, and the value of a joint action on them."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.maximise.checks import Numbers, as_indices, as_payoffs, as_utilities


def ring_edges(num_agents: int) -> Int32[Array, "n 2"]:
    """Edges (i, i+1), the last back to the first; one agent is its own partner."""
    agents = jnp.arange(num_agents, dtype=jnp.int32)
    return jnp.stack([agents, jnp.roll(agents, -1)], axis=1)


def path_edges(num_agents: int) -> Int32[Array, "e 2"]:
    """Edges (i, i+1) from the first to the last agent."""
    return ring_edges(num_agents)[:-1]


def successor_edges(successors: Numbers) -> Int32[Array, "n 2"]:
    """Edges (i, successors[i]), one for each agent."""
    successors = jnp.asarray(successors).astype(jnp.int32)
    return jnp.stack([jnp.arange(successors.shape[0], dtype=jnp.int32), successors], axis=1)


def tree_edges(parents: Numbers) -> Int32[Array, "n 2"]:
    """Edges (i, parents[i]); that of the root is (root, root), whose table `tree` ignores."""
    return successor_edges(parents)


def evaluate(
    payoffs: Numbers, edges: Numbers, actions: Numbers, *, utilities: Numbers | None = None
) -> Float[Array, ""]:
    """The value of `actions`: the sum over edges (i, j) of payoffs[e, a_i, a_j], plus utilities.

    An action of -1 (no allowed action) contributes nothing.
    """
    payoffs = as_payoffs(payoffs, "e")
    actions = jnp.asarray(actions)
    actions = as_indices("actions", jnp.maximum(actions, -1) + 1, actions.shape, None) - 1
    utilities = as_utilities(utilities, (*actions.shape, payoffs.shape[1]))
    edges = as_indices("edges", edges, (payoffs.shape[0], 2), actions.shape[0])
    return chosen_sum(payoffs, edges, utilities, actions)


def chosen_sum(
    payoffs: Float[Array, "e a a"],
    edges: Int32[Array, "e 2"],
    utilities: Float[Array, "n a"] | None,
    actions: Int32[Array, " n"],
) -> Float[Array, ""]:
    """The sum of the chosen entries: linear, so it is its own derivative.

    Selecting by comparison instead of indexing keeps gradients free of scatters, which are slow on
    a CPU, and ignores NaN and infinities in the other entries.
    """
    chosen: Bool[Array, "n a"] = actions[:, None] == jnp.arange(payoffs.shape[1])[None, :]
    pair = chosen[edges[:, 0], :, None] & chosen[edges[:, 1], None, :]
    total = jnp.where(pair, payoffs, 0).sum()
    return total if utilities is None else total + jnp.where(chosen, utilities, 0).sum()
