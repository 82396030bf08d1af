"""The product that stays flat under vmap is the ordinary product, whatever is batched."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.values.product import rows_product


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape)


def test_is_the_product_of_matrices():
    x, w = normal(0, 5, 3), normal(1, 3, 4)
    np.testing.assert_allclose(rows_product(x, w), x @ w, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(rows_product)(x, w), x @ w, rtol=1e-6)


BATCHED = [axes for axes in itertools.product([None, 0, 1, 2], repeat=2) if axes != (None, None)]


@pytest.mark.parametrize(("x_axis", "w_axis"), BATCHED)
def test_every_way_to_batch(x_axis, w_axis):
    x = normal(0, 5, 3) if x_axis is None else jnp.moveaxis(normal(0, 7, 5, 3), 0, x_axis)
    w = normal(1, 3, 4) if w_axis is None else jnp.moveaxis(normal(1, 7, 3, 4), 0, w_axis)

    def gradients(product):
        def loss(x, w):
            return jnp.sin(jax.vmap(product, in_axes=(x_axis, w_axis))(x, w)).sum()

        return jax.value_and_grad(loss, argnums=(0, 1))(x, w)

    jax.tree.map(
        lambda ours, plain: np.testing.assert_allclose(ours, plain, rtol=2e-5, atol=1e-5),
        gradients(rows_product),
        gradients(jnp.matmul),
    )


def test_two_levels_of_vmap_and_a_gradient_for_each_example():
    x, w = normal(0, 2, 6, 5, 3), normal(1, 2, 3, 4)  # [seed, example, row, input]

    def gradients(product):
        each = jax.vmap(jax.grad(lambda w, x: jnp.tanh(product(x, w)).sum()), in_axes=(None, 0))
        return jax.vmap(each)(w, x)

    np.testing.assert_allclose(gradients(rows_product), gradients(jnp.matmul), rtol=2e-5, atol=1e-5)


def test_forward_mode():
    x, w = normal(0, 5, 3), normal(1, 3, 4)
    tangents = normal(2, 5, 3), normal(3, 3, 4)
    _, ours = jax.jvp(rows_product, (x, w), tangents)
    _, plain = jax.jvp(jnp.matmul, (x, w), tangents)
    np.testing.assert_allclose(ours, plain, rtol=2e-5, atol=1e-5)


def test_a_batch_gives_flat_products_forward_and_backward():
    def loss(w, x):
        return (jax.vmap(lambda x: rows_product(x, w))(x) ** 2).sum()

    jaxpr = jax.make_jaxpr(jax.grad(loss, argnums=(0, 1)))(normal(0, 3, 4), normal(1, 7, 5, 3))
    products = [e for e in jaxpr.eqns if e.primitive.name == "rows_product"]
    assert len(products) == 3  # y, dx and dw
    assert all(operand.aval.ndim == 2 for e in products for operand in e.invars)
