"""Keeping XLA from computing the same thing several times.

XLA:CPU fuses an expression into each of its consumers, so what feeds four arrays is computed four
times, and what feeds those again sixteen times. It never repeats what it deems expensive, and a
division counts as such. Hence `once`: a division by a 1 that the compiler cannot know. It changes
no bit of any value. (An optimization barrier does not stop the fusion on the CPU.)
"""

from typing import Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32

Tree = TypeVar("Tree")


@runtime_checkable
class Once(Protocol):
    """Returns the pytree of floats that it is given."""

    def __call__(self, tree: Tree, /) -> Tree:
        """See the module."""


def once_by(steps: Int32[Array, "*b"]) -> Once:
    """The function `once`; `steps`, any counter that is never negative, hides the 1."""
    one = jnp.where(jnp.ravel(steps)[0] < 0, 2.0, 1.0)

    def once(tree: Tree, /) -> Tree:
        result: Tree = jax.tree.map(lambda x: x / one, tree)
        return result

    return once
