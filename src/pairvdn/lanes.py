"""The batch as the LAST axis makes maximisers and physics fast under a plain `jax.vmap`.

Vector units work along the last axis. The arrays of one example are small (a payoff table of 4 x 4,
a round of 8 pairs of boxes), so a batch in front leaves inner loops of a few numbers. With the
batch last, "in lanes", every operation is one long vector operation, which pays for the two
transpositions.

`in_lanes` hides this. It turns a function of arrays `[..., lanes]` into a function of one example
whose `vmap`, nested to any depth, hands the whole batch to it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap


def in_lanes(function: Callable[..., Any], *, chunk: int | None = None) -> Callable[..., Any]:
    """Make a function of one example from `function`, which takes arrays with a lane axis last.

    Args:
        function: Takes and returns pytrees of arrays `[..., lanes]`.
        chunk: The most lanes per call, so that temporary values stay in the cache; None: all.
    """

    @custom_vmap
    def of_batch(*arguments: Any) -> Any:
        return _apply(function, arguments, chunk)

    @of_batch.def_vmap
    def of_batches(size: int, batched: Any, *arguments: Any) -> tuple[Any, Any]:
        # Arguments are [size, batch, ...]; one that is the same for all lacks the first axis.
        def flatten(x: Any, is_batched: bool) -> Any:
            full = x if is_batched else jnp.broadcast_to(x[None], (size, *x.shape))
            return full.reshape(size * full.shape[1], *full.shape[2:])  # no -1: may be empty

        result = of_batch(*jax.tree.map(flatten, arguments, tuple(batched)))
        result = jax.tree.map(lambda x: x.reshape(size, len(x) // size, *x.shape[1:]), result)
        return result, jax.tree.map(lambda _: True, result)

    def of_one(*arguments: Any) -> Any:
        result = of_batch(*jax.tree.map(lambda x: x[None], arguments))
        return jax.tree.map(lambda x: x[0], result)

    return of_one


def _apply(function: Callable[..., Any], arguments: Any, chunk: int | None) -> Any:
    """Call `function` on arrays [batch, ...], transposed, in chunks of equal size."""
    size = jax.tree.leaves(arguments)[0].shape[0]
    parts = 1 if chunk is None else -(-size // chunk)
    if parts == 1:
        last = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), arguments)
        return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), function(*last))
    each = -(-size // parts)
    fill = parts * each - size  # the last chunk is filled up with copies of the last example

    def split(x: Any) -> Any:
        filled = jnp.concatenate([x, jnp.repeat(x[-1:], fill, axis=0)]) if fill else x
        return jnp.moveaxis(filled.reshape(parts, each, *x.shape[1:]), 1, -1)

    def join(x: Any) -> Any:
        return jnp.moveaxis(x, -1, 1).reshape(parts * each, *x.shape[1:-1])[:size]

    # Whole batches are transposed, not chunks: the compiler would let the transposition sink into
    # the chunk's own expressions, which then read along the wrong axis again and again.
    result = jax.lax.map(lambda part: function(*part), jax.tree.map(split, arguments))
    return jax.tree.map(join, result)
