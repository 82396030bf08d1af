"""Batches of the replay for the updates of one round."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32

from pairvdn.checks import require_at_least
from pairvdn.types import PRNGKey


class Minibatches(eqx.Module):
    """Chooses the rows of the replay for each update."""

    batch_size: eqx.AbstractVar[int]

    @abc.abstractmethod
    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """Rows for at most u updates, and how many of those updates to make."""


class WholePass(Minibatches):
    """The paper's: one shuffled pass over the whole replay, without an incomplete last batch."""

    batch_size: int = eqx.field(default=32, static=True)

    def __check_init__(self) -> None:
        require_at_least(1, batch_size=self.batch_size)

    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """Shuffle the rows in use to the front.

        Shapes are fixed under `jax.jit` while the replay grows. So all rows get a random number,
        those not in use the largest, and are sorted by it; the batches beyond
        `size // batch_size` exist but are not used.
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
