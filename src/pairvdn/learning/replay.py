"""Memory of transitions on the device: a ring buffer that is written in place.

Every field is one array with the row as its first axis, so a transition is contiguous within each
field: writing a block and gathering a batch both copy whole rows. Inside `jax.jit` with the
buffer donated, or carried by a scan, inserting touches only the rows it writes.
"""

from typing import Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32

Item = TypeVar("Item")


class Replay(eqx.Module, Generic[Item]):
    """The newest `capacity` items; `items` is one item with a leading row axis in every leaf."""

    items: Item
    position: Int32[Array, ""]  # the row that is written next
    size: Int32[Array, ""]  # rows in use, counted from row 0

    @property
    def capacity(self) -> int:
        """The number of rows."""
        return int(jax.tree.leaves(self.items)[0].shape[0])


def empty_like(block: Item, capacity: int) -> Replay[Item]:
    """An empty replay for items like those of `block` (leading axis: items; may have length 0)."""
    if capacity < 1:
        raise ValueError(f"A replay needs room for at least 1 item, not {capacity}.")
    items = jax.tree.map(lambda leaf: jnp.zeros((capacity, *leaf.shape[1:]), leaf.dtype), block)
    return Replay(items=items, position=jnp.int32(0), size=jnp.int32(0))


def insert(replay: Replay[Item], block: Item) -> Replay[Item]:
    """Write a block of items (leading axis: items, oldest first) over the oldest rows."""
    length = jax.tree.leaves(block)[0].shape[0]
    capacity = replay.capacity
    if length > capacity:
        raise ValueError(f"A block of {length} items does not fit a replay of {capacity}.")
    rows = (replay.position + jnp.arange(length, dtype=jnp.int32)) % capacity

    def write(memory: Array, new: Array) -> Array:
        return memory.at[rows].set(new, unique_indices=True, mode="promise_in_bounds")

    return Replay(
        items=jax.tree.map(write, replay.items, block),
        position=(replay.position + length) % capacity,
        size=jnp.minimum(replay.size + length, capacity),
    )


def take(replay: Replay[Item], rows: Int32[Array, " b"]) -> Item:
    """The items in these rows; each must be below `size`."""

    def gather(memory: Array) -> Array:
        return memory.at[rows].get(mode="promise_in_bounds")

    items: Item = jax.tree.map(gather, replay.items)
    return items
