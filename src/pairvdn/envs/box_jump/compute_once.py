"""`once`: keeps XLA from computing an expression several times.

XLA:CPU fuses an expression into each of its consumers: with four consumers it is computed four
times, and after another such level sixteen times. It never repeats an expensive operation, and a
division counts as one. Hence `once` divides by a 1 that the compiler cannot know, which changes no
bit. (An optimization barrier does not stop the fusion on the CPU.)
"""

from typing import Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32

Tree = TypeVar("Tree")


@runtime_checkable
class Once(Protocol):
    """Returns its argument, a pytree of floats, unchanged."""

    def __call__(self, tree: Tree, /) -> Tree:
        """See the module."""


def once_by(steps: Int32[Array, "*b"]) -> Once:
    """The function `once`; `steps`, a counter that is never negative, hides the 1."""
    one = jnp.where(jnp.ravel(steps)[0] < 0, 2.0, 1.0)

    def once(tree: Tree, /) -> Tree:
        result: Tree = jax.tree.map(lambda x: x / one, tree)
        return result

    return once
