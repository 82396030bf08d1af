"""When two trees of arrays count as the same."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# Compiled in two ways, the same sum may differ in its last bits, here with room for a step of
# physics; anything that is really different is far outside.
_TOLERANCE = 1e-4


def plain(leaf: Any) -> np.ndarray:
    """As NumPy; a key as the numbers in it, so that both kinds of keys compare."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def identical(first: Any, second: Any) -> bool:
    """The same bits, NaN included."""
    pairs = _pairs(first, second)
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def close(first: Any, second: Any) -> bool:
    """The same up to rounding."""
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
        for a, b in _pairs(first, second)
    )


def _pairs(first: Any, second: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    leaves = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return [(plain(a), plain(b)) for a, b in leaves]
