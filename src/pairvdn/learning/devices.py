"""What one device knows of the others, while all run the same program on parts of the data."""

import dataclasses
from typing import TypeVar

import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from pairvdn.types import PRNGKey

AXIS = "devices"  # the name under which `shard_map` knows them

Tree = TypeVar("Tree")


@dataclasses.dataclass(frozen=True)
class Devices:
    """`count` devices side by side; with one there is nothing to exchange, and nothing is.

    What is common to all devices (parameters, counts) stays equal on all of them, bit for bit, only
    if it is computed from nothing but common numbers: that is what `mean` and `sum` return. Keys
    are common, too; whoever draws random numbers for this device alone takes its own key first.
    """

    count: int = 1

    def mean(self, tree: Tree) -> Tree:
        """The mean over the devices of every leaf."""
        if self.count == 1:
            return tree
        # One exchange of one array: over a network each has its price, however small it is.
        flat, unflatten = ravel_pytree(tree)
        mean: Tree = unflatten(jax.lax.pmean(flat, AXIS))
        return mean

    def sum(self, tree: Tree) -> Tree:
        """The sum over the devices of every leaf."""
        total: Tree = tree if self.count == 1 else jax.lax.psum(tree, AXIS)
        return total

    def own_key(self, key: PRNGKey) -> PRNGKey:
        """A key that no other device has."""
        return key if self.count == 1 else jax.random.fold_in(key, jax.lax.axis_index(AXIS))

    def own_part(self, whole: Array) -> Array:
        """The part of this device: equal parts of the leading axis, in the order of the devices."""
        if self.count == 1:
            return whole
        length = whole.shape[0] // self.count
        start = jax.lax.axis_index(AXIS) * length
        return jax.lax.dynamic_slice_in_dim(whole, start, length)


ONE = Devices()
