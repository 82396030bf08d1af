"""Batches for code that wants the batch as the LAST axis.

Vector units work along the last axis. The physics has short axes (boxes, rounds of pairs) and needs
a long one there, so it is written for arrays [..., batch], while `jax.vmap` puts the batch first
and would be several times slower. `batch_last` gives such a function the signature of one example
and teaches `vmap`, also nested ones, to hand it whole batches, transposed, in chunks whose
temporary values stay in the cache. Nobody who uses it needs to know.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def batch_last(function: Callable[..., Any], chunk: int) -> Callable[..., Any]:
    """Turn `function`, on pytrees of arrays [..., batch], into one on a single example.

    At most `chunk` examples are handed to it at a time.
    """

    @jax.custom_batching.custom_vmap
    def batch_first(*arguments: Any) -> Any:
        return _in_chunks(function, arguments, chunk)

    @batch_first.def_vmap
    def batch_of_batches(size: int, batched: Any, *arguments: Any) -> tuple[Any, Any]:
        # Arguments are [size, batch, ...]; one that is the same for all lacks the first axis.
        def flatten(x: Any, is_batched: bool) -> Any:
            full = x if is_batched else jnp.broadcast_to(x[None], (size, *x.shape))
            return full.reshape(-1, *full.shape[2:])

        result = batch_first(*jax.tree.map(flatten, arguments, tuple(batched)))
        result = jax.tree.map(lambda x: x.reshape(size, -1, *x.shape[1:]), result)
        return result, jax.tree.map(lambda _: True, result)

    def one_example(*arguments: Any) -> Any:
        result = batch_first(*jax.tree.map(lambda x: x[None], arguments))
        return jax.tree.map(lambda x: x[0], result)

    return one_example


def _in_chunks(function: Callable[..., Any], arguments: Any, chunk: int) -> Any:
    size = jax.tree.leaves(arguments)[0].shape[0]
    parts = -(-size // chunk)
    each = -(-size // parts)

    if parts == 1:
        last = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), arguments)
        return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), function(*last))
    # Chunks are of one size: the last one is filled up with copies of the last example.
    fill = parts * each - size

    def split(x: Any) -> Any:
        filled = jnp.concatenate([x, jnp.repeat(x[-1:], fill, axis=0)]) if fill else x
        return jnp.moveaxis(filled.reshape(parts, each, *x.shape[1:]), 1, -1)

    def join(x: Any) -> Any:
        return jnp.moveaxis(x, -1, 1).reshape(-1, *x.shape[1:-1])[:size]

    # Whole batches are transposed, not chunks: the compiler would let the transposition sink into
    # the chunk's own expressions, which then read along the wrong axis again and again.
    result = jax.lax.map(lambda part: function(*part), jax.tree.map(split, arguments))
    return jax.tree.map(join, result)
