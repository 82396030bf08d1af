"""Keeping XLA from computing the same thing several times.

XLA:CPU fuses an expression into each of its consumers, so what feeds four arrays is computed four
times, and what feeds those again sixteen times. It never repeats what it deems expensive, and a
division counts as such. Hence `once`: a division by a 1 that the compiler cannot know. It changes
no bit of any value. (An optimization barrier does not stop the fusion on the CPU.)
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32

Once: TypeAlias = Callable[[Any], Any]  # a pytree of floats to the same pytree


def once_by(steps: Int32[Array, "*b"]) -> Once:
    """The function `once`; `steps`, any counter that is never negative, hides the 1."""
    one = jnp.where(jnp.ravel(steps)[0] < 0, 2.0, 1.0)
    return lambda tree: jax.tree.map(lambda x: x / one, tree)
