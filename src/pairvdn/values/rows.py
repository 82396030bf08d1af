"""Products and look-ups of rows, with rules for `vmap` that keep whole batches fast.

Values are written for one example, and learners batch them with `vmap`. For a plain `x @ w` with
x[r, f] and a batch b, XLA sees a product of a three-dimensional array, whose gradient with respect
to w is slower on a CPU than that of the same numbers as x[b·r, f]. `rows_product` is `x @ w` with a
batching rule that folds the batch into the rows, so XLA sees large flat products, forward and
backward. `rows_at` is `x[index]` with a rule that puts the batch behind the rows: for each index it
copies one long row of the whole batch instead of a short row of each example.
"""

# mypy: allow-untyped-calls
# (JAX does not annotate the methods of a primitive.)

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

_rows_product = Primitive("rows_product")
_rows_at = Primitive("rows_at")


def rows_product(x: Float[Array, "*k r f"], w: Float[Array, "*k f h"]) -> Float[Array, "*k r h"]:
    """Y = x w for every group k; every row of x is multiplied by its group's matrix."""
    product: Array = _rows_product.bind(x, w)
    return product


def rows_at(x: Float[Array, "r f"], index: Sequence[int] | np.ndarray) -> Float[Array, "e f"]:
    """The rows of x at indices that are known before tracing, each at least 0."""
    rows: Array = _rows_at.bind(x, index=tuple(int(i) for i in index))
    return rows


def _dot(x: Array, w: Array) -> Array:
    groups = tuple(range(x.ndim - 2))
    return lax.dot_general(x, w, (((x.ndim - 1,), (w.ndim - 2,)), (groups, groups)))


def _batch_product(operands: Sequence[Array], axes: Sequence[int | None]) -> tuple[Array, int]:
    (x, w), (x_axis, w_axis) = operands, axes
    if x_axis is not None and w_axis is not None:  # a matrix for each example: one more group
        return rows_product(jnp.moveaxis(x, x_axis, 0), jnp.moveaxis(w, w_axis, 0)), 0
    if x_axis is not None:  # many examples, one matrix: more rows
        if x_axis != x.ndim - 2:  # just behind the rows it can stay
            x, x_axis = jnp.moveaxis(x, x_axis, -3), x.ndim - 3
        rows = x.reshape(*x.shape[:-3], math.prod(x.shape[-3:-1]), x.shape[-1])
        return rows_product(rows, w).reshape(*x.shape[:-1], w.shape[-1]), x_axis
    assert w_axis is not None
    w = jnp.moveaxis(w, w_axis, -2)  # many matrices, one example: more columns
    columns = w.reshape(*w.shape[:-2], math.prod(w.shape[-2:]))
    result = rows_product(x, columns)
    return result.reshape(*result.shape[:-1], *w.shape[-2:]), result.ndim - 1


def _transpose_x(cotangent: Array, _: Any, w: Array) -> Array:
    return rows_product(cotangent, jnp.swapaxes(w, -1, -2))


def _transpose_w(cotangent: Array, x: Array, _: Any) -> Array:
    """Xᵀ cotangent, or the transpose of (cotangent)ᵀ x, whichever has the wider rows.

    The contraction is long and the result small. A CPU multiplies wide rows several times as fast
    as narrow ones.
    """
    if cotangent.shape[-1] >= x.shape[-1]:
        return rows_product(jnp.swapaxes(x, -1, -2), cotangent)
    wide = rows_product(jnp.swapaxes(cotangent, -1, -2), x)
    # Without the barrier the compiler swaps the operands again to save the transposition.
    return jnp.swapaxes(lax.optimization_barrier(wide), -1, -2)


def _take(x: Array, *, index: tuple[int, ...]) -> Array:
    return x.at[np.array(index, np.int32)].get(mode="promise_in_bounds")


def _batch_take(
    operands: Sequence[Array], axes: Sequence[int], *, index: tuple[int, ...]
) -> tuple[Array, int]:
    (x,), (axis,) = operands, axes
    return _rows_at.bind(jnp.moveaxis(x, axis, 1), index=index), 1


def _transpose_take(cotangent: Array, x: Any, *, index: tuple[int, ...]) -> list[Array]:
    nothing = jnp.zeros(x.aval.shape, cotangent.dtype)
    return [nothing.at[np.array(index, np.int32)].add(cotangent, mode="promise_in_bounds")]


_rows_product.def_impl(jax.jit(_dot))
_rows_product.def_abstract_eval(lambda x, w: x.update(shape=(*x.shape[:-1], w.shape[-1])))
mlir.register_lowering(_rows_product, mlir.lower_fun(_dot, multiple_results=False))
batching.primitive_batchers[_rows_product] = _batch_product
ad.defbilinear(_rows_product, _transpose_x, _transpose_w)

_rows_at.def_impl(jax.jit(_take, static_argnames="index"))
_rows_at.def_abstract_eval(lambda x, index: x.update(shape=(len(index), *x.shape[1:])))
mlir.register_lowering(_rows_at, mlir.lower_fun(_take, multiple_results=False))
batching.primitive_batchers[_rows_at] = _batch_take
ad.deflinear2(_rows_at, _transpose_take)
