"""Arguments of the maximisers: converted to arrays, or refused with both shapes named.

The checks run before the typed inner functions, so a caller sees the same ValueError with and
without run-time type checking.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, ArrayLike

# Arguments of callers; nested lists are convenient in examples.
Numbers = ArrayLike | Sequence[Any]


def shape_text(shape: tuple[int | str, ...]) -> str:
    """A shape in the notation of this package: [n, a, a]."""
    return "[" + ", ".join(map(str, shape)) + "]"


def as_payoffs(payoffs: Numbers, count: str, least: int = 0) -> Array:
    """Float array of at least `least` square tables, `[count, a, a]`."""
    payoffs = _as_floats("payoffs", payoffs)
    shape = payoffs.shape
    if len(shape) != 3 or shape[1] != shape[2] or shape[2] == 0:
        raise ValueError(
            f"payoffs must have shape {shape_text((count, 'a', 'a'))} with at least one action, "
            f"got {shape_text(shape)}"
        )
    if shape[0] < least:
        raise ValueError(
            f"payoffs must have shape {shape_text((count, 'a', 'a'))} with at least one agent, "
            f"got {shape_text(shape)}"
        )
    return payoffs


def as_utilities(utilities: Numbers | None, shape: tuple[int, ...]) -> Array | None:
    """Float array `[n, a]`, or None."""
    if utilities is None:
        return None
    utilities = _as_floats("utilities", utilities)
    _require_shape("utilities", utilities, shape)
    return utilities


def as_mask(mask: Numbers | None, shape: tuple[int, ...]) -> Array | None:
    """Boolean array `[n, a]`, or None."""
    if mask is None:
        return None
    mask = as_array("mask", mask)
    if mask.dtype != jnp.bool_:
        raise ValueError(f"mask must be boolean (False: not allowed), got {mask.dtype}")
    _require_shape("mask", mask, shape)
    return mask


def as_indices(name: str, indices: Numbers, shape: tuple[int, ...], limit: int | None) -> Array:
    """Integer array of this shape; values that are not traced must be below `limit`."""
    indices = as_array(name, indices)
    if indices.size == 0:
        indices = indices.astype(jnp.int32)
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise ValueError(f"{name} must be integers, got {indices.dtype}")
    _require_shape(name, indices, shape)
    if not isinstance(indices, Tracer) and indices.size:
        concrete = np.asarray(indices)
        low, high = int(concrete.min()), int(concrete.max())
        if low < 0 or (limit is not None and high >= limit):
            below = "" if limit is None else f" and below the number of agents, {limit}"
            raise ValueError(f"{name} must be at least 0{below}, got {low if low < 0 else high}")
    return indices.astype(jnp.int32)


def as_array(name: str, x: Numbers) -> Array:
    """An array of numbers; whole ones must fit 32 bits, where JAX would cut them off."""
    try:
        if not isinstance(x, Array):
            x = np.asarray(x)
            if x.size and x.dtype.kind in "iu" and np.abs(x).max() > np.iinfo(np.int32).max:
                raise ValueError("a whole number is too large")
        return jnp.asarray(x)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error


def _as_floats(name: str, x: Numbers) -> Array:
    x = as_array(name, x)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise ValueError(f"{name} must be real numbers, got {x.dtype}")
    if jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return x.astype(jax.dtypes.canonicalize_dtype(float))


def _require_shape(name: str, x: Array, shape: tuple[int, ...]) -> None:
    if x.shape != shape:
        raise ValueError(f"{name} must have shape {shape_text(shape)}, got {shape_text(x.shape)}")
