"""Replay: a ring buffer of transitions or sequences on the device, and the batches drawn from it.

Every field is one array with the row as its first axis, so an item is contiguous within each
field: writing a block and gathering a batch both copy whole rows. Inside `jax.jit` with the
buffer donated, or carried by a scan, inserting touches only the rows it writes.
"""

import abc
from typing import Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32

from pairvdn.checks import require_at_least
from pairvdn.types import PRNGKey

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
    require_at_least(1, capacity=capacity)
    items = jax.tree.map(lambda leaf: jnp.zeros((capacity, *leaf.shape[1:]), leaf.dtype), block)
    return Replay(items=items, position=jnp.int32(0), size=jnp.int32(0))


def nothing() -> Replay[tuple[()]]:
    """The replay of a learner that stores nothing."""
    return Replay(items=(), position=jnp.int32(0), size=jnp.int32(0))


def only(block: Item) -> Replay[Item]:
    """A replay that consists of this block."""
    length = jax.tree.leaves(block)[0].shape[0]
    return Replay(items=block, position=jnp.int32(0), size=jnp.int32(length))


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


class Minibatches(eqx.Module):
    """Chooses the rows of the replay for each update."""

    batch_size: eqx.AbstractVar[int]

    @abc.abstractmethod
    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """Rows for at most u updates, and the number of updates to make."""


class WholePass(Minibatches):
    """The paper's rule: one shuffled pass over the whole replay; an incomplete batch is dropped."""

    batch_size: int = eqx.field(default=32, static=True)

    def __check_init__(self) -> None:
        require_at_least(1, batch_size=self.batch_size)

    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """Shuffle the rows in use to the front.

        The replay grows but shapes under `jax.jit` are fixed. So every row draws a random sort key,
        unused rows get the largest, and batches beyond `size // batch_size` are not used.
        """
        draws = jax.random.bits(key, (capacity,), jnp.uint32) >> 1
        unused = jnp.arange(capacity, dtype=jnp.int32) >= size
        order = jnp.argsort(jnp.where(unused, jnp.uint32(2**32 - 1), draws)).astype(jnp.int32)
        most = capacity // self.batch_size
        batches = order[: most * self.batch_size].reshape(most, self.batch_size)
        return batches, size // self.batch_size


class RandomBatches(Minibatches):
    """A fixed number of batches, each row drawn uniformly with replacement."""

    batch_size: int = eqx.field(default=512, static=True)
    num_updates: int = eqx.field(default=1, static=True)

    def __check_init__(self) -> None:
        require_at_least(1, batch_size=self.batch_size, num_updates=self.num_updates)

    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """Draw rows independently; the remainder is uniform to one part in 2³² / size."""
        draws = jax.random.bits(key, (self.num_updates, self.batch_size), jnp.uint32)
        return (draws % size.astype(jnp.uint32)).astype(jnp.int32), jnp.int32(self.num_updates)


class Passes(Minibatches):
    """Shuffled passes over a replay that is full, such as a single block; the rest is dropped."""

    batch_size: int = eqx.field(static=True)
    num_passes: int = eqx.field(default=1, static=True)

    def __check_init__(self) -> None:
        require_at_least(1, batch_size=self.batch_size, num_passes=self.num_passes)

    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """An own order of all rows for each pass."""
        del size
        keys = jax.random.split(key, self.num_passes)
        rows = jnp.arange(capacity, dtype=jnp.int32)
        orders = jax.vmap(lambda key: jax.random.permutation(key, rows))(keys)
        batches = capacity // self.batch_size
        used = orders[:, : batches * self.batch_size].reshape(-1, self.batch_size)
        return used, jnp.int32(self.num_passes * batches)
