"""The elimination order of a successor graph, computed with array operations in lanes."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

# Up to here n^2 comparisons, vector operations over the lanes, are at least as fast as a sort.
_FEW = 64


class Order(eqx.Module):
    """Positions 0 to n-1: children before parents, and the children of one parent adjacent.

    A root counts as a child of the agent it points to, which receives its left-over edge.
    Everything is indexed by position, except `positions`.
    """

    agents: Int32[Array, "n l"]  # the agent at this position
    positions: Int32[Array, "n l"]  # the position of this agent
    parent: Int32[Array, "n l"]  # the position of the agent it points to
    root: Int32[Array, "n l"]  # the position of the root of its part
    last_child: Int32[Array, "n l"]  # the position of its last child, -1 without children
    is_root: Bool[Array, "n l"]
    is_first: Bool[Array, "n l"]  # the first of its siblings


def elimination_order(successors: Int32[Array, "n l"]) -> Order:
    """Order the agents by distance to the root of their part, farthest first."""
    num_agents = successors.shape[0]
    roots = _roots(successors)
    agents = jax.lax.broadcasted_iota(jnp.int32, successors.shape, 0)
    depth = _steps_to_root(successors, roots == agents)
    # Two agents have the same key if and only if they point to the same agent.
    key_of_children = (num_agents - depth) * num_agents + agents
    key = lookup(key_of_children, successors)
    order = _stable_argsort(key)
    positions = _inverse(order)
    parent = lookup(positions, lookup(successors, order))
    changes, end = parent[1:] != parent[:-1], jnp.ones_like(parent[:1], bool)
    return Order(
        agents=order,
        positions=positions,
        parent=parent,
        root=lookup(positions, lookup(roots, order)),
        last_child=_last_children(parent, is_last=jnp.concatenate([changes, end])),
        is_root=lookup(roots, order) == order,
        is_first=jnp.concatenate([end, changes]),
    )


def lookup(x: Array, index: Int32[Array, "m l"]) -> Array:
    """x[index] along the first axis, with separate indices for each lane."""
    index = index.reshape(index.shape[0], *[1] * (x.ndim - 2), index.shape[-1])
    return jnp.take_along_axis(x, index, axis=0, mode="clip")


def _roots(successors: Int32[Array, "n l"]) -> Int32[Array, "n l"]:
    """The smallest agent of the cycle that each agent leads to, by doubling the length of walks."""
    agents = jax.lax.broadcasted_iota(jnp.int32, successors.shape, 0)

    def double(_: Array, walk: tuple[Array, Array]) -> tuple[Array, Array]:
        end, smallest = walk
        return lookup(end, end), jnp.minimum(smallest, lookup(smallest, end))

    end, smallest = jax.lax.fori_loop(0, len(agents).bit_length(), double, (successors, agents))
    return lookup(smallest, end)


def _steps_to_root(
    successors: Int32[Array, "n l"], is_root: Bool[Array, "n l"]
) -> Int32[Array, "n l"]:
    agents = jax.lax.broadcasted_iota(jnp.int32, successors.shape, 0)
    onward = jnp.where(is_root, agents, successors)

    def double(_: Array, walk: tuple[Array, Array]) -> tuple[Array, Array]:
        end, steps = walk
        return lookup(end, end), steps + lookup(steps, end)

    start = (onward, (~is_root).astype(jnp.int32))
    _, steps = jax.lax.fori_loop(0, len(agents).bit_length(), double, start)
    return jnp.asarray(steps)


def _stable_argsort(key: Int32[Array, "n l"]) -> Int32[Array, "n l"]:
    if len(key) > _FEW:
        return _argsort(key)
    agents = jax.lax.broadcasted_iota(jnp.int32, key.shape, 0)
    unique = key * len(key) + agents
    return _inverse((unique[None] < unique[:, None]).sum(axis=1, dtype=jnp.int32))


def _argsort(key: Int32[Array, "n l"]) -> Int32[Array, "n l"]:
    """The stable argsort of keys of at most n (n + 1), along the first axis.

    Key and index are packed into one number, as long as they fit, and sorted along the last axis:
    a sort of single numbers in a row is several times faster than one of pairs across lanes.
    """
    n = len(key)
    if n * n * (n + 2) >= 2**31:
        return jnp.argsort(key, axis=0, stable=True).astype(jnp.int32)
    packed = key * n + jax.lax.broadcasted_iota(jnp.int32, key.shape, 0)
    return jnp.sort(packed.T, axis=-1).T % n


def _inverse(permutation: Int32[Array, "n l"]) -> Int32[Array, "n l"]:
    index = jax.lax.broadcasted_iota(jnp.int32, permutation.shape, 0)
    return jnp.put_along_axis(index, permutation, index, axis=0, inplace=False)


def _last_children(
    parent: Int32[Array, "n l"], *, is_last: Bool[Array, "n l"]
) -> Int32[Array, "n l"]:
    """The position of each position's last child; -1 without children."""
    index = jax.lax.broadcasted_iota(jnp.int32, parent.shape, 0)
    nobody = jnp.full((len(parent) + 1, *parent.shape[1:]), -1, jnp.int32)
    where = jnp.where(is_last, parent, len(parent))  # the others write to a row that is dropped
    return jnp.put_along_axis(nobody, where, index, axis=0, inplace=False)[:-1]
