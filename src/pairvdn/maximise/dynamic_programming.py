"""Steps of the dynamic programs, in lanes: the last axis `l` is the batch, see `pairvdn.lanes`."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

_CACHE, _FEWEST_LANES = 2**19, 32  # numbers that fit a cache; lanes that fill vector units


def lanes_in_cache(numbers: int) -> int:
    """The size of a chunk of lanes with so many numbers each."""
    return max(_FEWEST_LANES, _CACHE // max(1, numbers))


def forbid(scores: Array, allowed: Array | None) -> Array:
    """-inf where not allowed. Not added, so that an infinite score cannot become NaN."""
    return scores if allowed is None else jnp.where(allowed, scores, -jnp.inf)


def best_onward(
    scores: Float[Array, "c x l"], table: Float[Array, "x y l"]
) -> Float[Array, "c y l"]:
    """Max over x of scores[c, x] + table[x, y]."""
    return (scores[:, :, None] + table[None]).max(axis=1)


def first_best(scores: Float[Array, "a l"]) -> Int32[Array, " l"]:
    """The smallest index of the largest score in each lane."""
    return jnp.argmax(scores, axis=0).astype(jnp.int32)


def pick(x: Array, index: Int32[Array, "... l"], axis: int) -> Array:
    """X at a separate index along `axis` for each lane; the index may depend on other axes too.

    By comparison, since the axis is short and a gather with an index per lane is not vectorised.
    """
    positions = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)
    return jnp.where(positions == jnp.broadcast_to(index, x.shape), x, 0).sum(axis=axis)
