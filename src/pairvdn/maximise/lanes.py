"""Batches as the LAST axis: why maximisers are fast on a CPU under a plain `jax.vmap`.

A table of one example is small (a x a), so a batch in front leaves inner loops of four or nine
numbers, which cannot fill a vector register. With the batch behind ("in lanes") every operation
of the dynamic programs is one long vector operation, which is worth the two transpositions.

`in_lanes` hides this: it turns a function of arrays `[..., l]` into a function of one example
whose `vmap`, nested to any depth, folds the new axis into the lanes.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float, Int32


def in_lanes(solve: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of one example from `solve`, which works on arrays with a lane axis last."""
    folded = custom_vmap(solve)

    @folded.def_vmap
    def fold(axis_size: int, in_batched: list[Any], *arguments: Any) -> tuple[Any, Any]:
        lanes = jax.tree.map(lambda x, b: _into_lanes(x, b, axis_size), list(arguments), in_batched)
        answer = jax.tree.map(lambda x: _out_of_lanes(x, axis_size), folded(*lanes))
        return answer, jax.tree.map(lambda _: True, answer)

    def solve_one(*arguments: Any) -> Any:
        with_lane = jax.tree.map(lambda x: x[..., None], arguments)
        return jax.tree.map(lambda x: x[..., 0], folded(*with_lane))

    return solve_one


def _into_lanes(x: Array, batched: bool, size: int) -> Array:
    """`[b, ..., l]`, or `[..., l]` if not batched, to `[..., b * l]`."""
    if not batched:
        x = jnp.broadcast_to(x, (size, *x.shape))
    x = jnp.moveaxis(x, 0, -2)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def _out_of_lanes(x: Array, size: int) -> Array:
    """`[..., b * l]` to `[b, ..., l]`."""
    return jnp.moveaxis(x.reshape(*x.shape[:-1], size, -1), -2, 0)


def forbid(scores: Array, allowed: Array | None) -> Array:
    """-inf where not allowed. Set, not added: an infinite score must not turn into NaN."""
    return scores if allowed is None else jnp.where(allowed, scores, -jnp.inf)


def best_onward(
    scores: Float[Array, "c x l"], table: Float[Array, "x y l"]
) -> Float[Array, "c y l"]:
    """Max over x of scores[c, x] + table[x, y].

    Action by action: a reduction over the middle axis is no vector operation on a CPU.
    """

    def take_in(x: Array, best: Float[Array, "c y l"]) -> Float[Array, "c y l"]:
        return jnp.maximum(best, scores[:, x, None] + table[None, x])

    first = scores[:, 0, None] + table[None, 0]
    best: Array = jax.lax.fori_loop(1, len(table), take_in, first)
    return best


def first_best(scores: Float[Array, "a l"]) -> Int32[Array, " l"]:
    """The smallest index of the largest score in each lane."""
    return jnp.argmax(scores, axis=0).astype(jnp.int32)


def pick(x: Array, index: Int32[Array, " l"], axis: int) -> Array:
    """X at a different index along `axis` for each lane.

    By comparison: the axis is short, and a gather with an index per lane is no vector operation.
    """
    positions = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)
    return jnp.where(positions == jnp.broadcast_to(index, x.shape), x, 0).sum(axis=axis)
