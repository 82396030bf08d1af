"""A matrix product that stays two-dimensional under `vmap`, in both directions of differentiation.

Values are written for one example, and learners batch them with `vmap`. For a plain `x @ w` with
x[r, f] and a batch b, XLA sees a product of a three-dimensional array, whose gradient with respect
to w is slower on a CPU than that of the same numbers as x[b·r, f]. This primitive is `x @ w` with a
batching rule that folds the batch into the rows, so XLA sees large flat products, forward and
backward.
"""

# mypy: allow-untyped-calls
# (JAX does not annotate the methods of a primitive.)

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

_rows_product = Primitive("rows_product")


def rows_product(
    x: Float[Array, "*k r f"], w: Float[Array, "*k f h"], *, narrow: bool = False
) -> Float[Array, "*k r h"]:
    """Y = x w for every group k; every row of x is multiplied by its group's matrix.

    `narrow`: w has few columns and x many rows. The gradient of w is then the transpose of
    (cotangent)ᵀ x, whose wide rows a CPU multiplies several times faster than those of xᵀ.
    """
    product: Array = _rows_product.bind(x, w, narrow=narrow)
    return product


def _dot(x: Array, w: Array, *, narrow: bool) -> Array:
    del narrow  # only the gradient depends on it
    groups = tuple(range(x.ndim - 2))
    return lax.dot_general(x, w, (((x.ndim - 1,), (w.ndim - 2,)), (groups, groups)))


def _batch(
    operands: Sequence[Array], axes: Sequence[int | None], *, narrow: bool
) -> tuple[Array, int]:
    (x, w), (x_axis, w_axis) = operands, axes
    product = partial(rows_product, narrow=narrow)
    if x_axis is not None and w_axis is not None:  # a matrix for each example: one more group
        return product(jnp.moveaxis(x, x_axis, 0), jnp.moveaxis(w, w_axis, 0)), 0
    if x_axis is not None:  # many examples, one matrix: more rows
        x = jnp.moveaxis(x, x_axis, -3)
        rows = x.reshape(*x.shape[:-3], math.prod(x.shape[-3:-1]), x.shape[-1])
        return product(rows, w).reshape(*x.shape[:-1], w.shape[-1]), x.ndim - 3
    assert w_axis is not None
    w = jnp.moveaxis(w, w_axis, -2)  # many matrices, one example: more columns
    columns = w.reshape(*w.shape[:-2], math.prod(w.shape[-2:]))
    result = product(x, columns)
    return result.reshape(*result.shape[:-1], *w.shape[-2:]), result.ndim - 1


def _transpose_x(cotangent: Array, _: Any, w: Array, *, narrow: bool) -> Array:
    del narrow
    return rows_product(cotangent, jnp.swapaxes(w, -1, -2))


def _transpose_w(cotangent: Array, x: Array, _: Any, *, narrow: bool) -> Array:
    if narrow:
        return jnp.swapaxes(rows_product(jnp.swapaxes(cotangent, -1, -2), x), -1, -2)
    return rows_product(jnp.swapaxes(x, -1, -2), cotangent)


_rows_product.def_impl(jax.jit(_dot, static_argnames="narrow"))
_rows_product.def_abstract_eval(lambda x, w, narrow: x.update(shape=(*x.shape[:-1], w.shape[-1])))
mlir.register_lowering(_rows_product, mlir.lower_fun(_dot, multiple_results=False))
batching.primitive_batchers[_rows_product] = _batch
ad.defbilinear(_rows_product, _transpose_x, _transpose_w)
