"""Exchanges between devices that run the same program on parts of the data."""

import dataclasses
from typing import TypeVar

import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from pairvdn.types import PRNGKey

AXIS = "devices"  # the name of the mesh axis in `shard_map`

Tree = TypeVar("Tree")


@dataclasses.dataclass(frozen=True)
class Devices:
    """`count` devices that run the same program; a single one exchanges nothing.

    Replicated arrays (parameters, counts) stay bit-identical on all devices only if they are
    computed from replicated arrays: `mean` and `sum` return such arrays. Keys are replicated too;
    `own_key` gives each device its own random numbers.
    """

    count: int = 1

    def mean(self, tree: Tree) -> Tree:
        """The mean over the devices of every leaf."""
        if self.count == 1:
            return tree
        # Exchange one array: each exchange has a fixed cost over a network.
        flat, unflatten = ravel_pytree(tree)
        mean: Tree = unflatten(jax.lax.pmean(flat, AXIS))
        return mean

    def sum(self, tree: Tree) -> Tree:
        """The sum over the devices of every leaf."""
        total: Tree = tree if self.count == 1 else jax.lax.psum(tree, AXIS)
        return total

    def own_key(self, key: PRNGKey) -> PRNGKey:
        """A key for this device only."""
        return key if self.count == 1 else jax.random.fold_in(key, jax.lax.axis_index(AXIS))

    def own_part(self, whole: Array) -> Array:
        """The part of this device: equal parts of the leading axis, in the order of the devices."""
        if self.count == 1:
            return whole
        length = whole.shape[0] // self.count
        start = jax.lax.axis_index(AXIS) * length
        return jax.lax.dynamic_slice_in_dim(whole, start, length)


ONE = Devices()
