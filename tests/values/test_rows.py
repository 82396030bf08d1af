"""Products and look-ups of rows are the ordinary ones, whatever is batched."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.values.rows import rows_at, rows_product


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


@pytest.mark.parametrize("outputs", [1, 2, 3, 8])
def test_gradients_of_narrow_and_of_wide_matrices(outputs):
    """The gradient of w is computed in two ways, by the shape of w."""
    x, w = normal(0, 50, 3), normal(1, 3, outputs)

    def gradient(product):
        return jax.jit(jax.grad(lambda w: jnp.sin(product(x, w)).sum()))(w)

    np.testing.assert_allclose(gradient(rows_product), gradient(jnp.matmul), rtol=2e-5, atol=1e-5)


INDEX = np.array([2, 0, 2, 4])  # one row twice, others never


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_look_ups_with_a_batch_on_any_axis(axis):
    x = jnp.moveaxis(normal(0, 7, 5, 3), 0, axis)

    def look_ups(look_up):
        def loss(x):
            rows = jax.vmap(look_up, in_axes=axis)(x)
            return (jnp.sin(rows) * normal(1, 7, 4, 3)).sum()

        return jax.value_and_grad(loss)(x)

    (ours, gradient), (plain, expected) = (
        look_ups(look_up) for look_up in (lambda x: rows_at(x, INDEX), lambda x: x[INDEX])
    )
    np.testing.assert_allclose(ours, plain, rtol=1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_look_ups_inside_two_vmaps_and_a_product():
    x, w = normal(0, 2, 6, 5, 3), normal(1, 3, 4)  # [seed, example, row, input]

    def products(look_up, product):
        each = jax.vmap(jax.vmap(lambda x: product(look_up(x), w)))
        return jax.jvp(each, (x,), (normal(2, *x.shape),))

    ours = products(lambda x: rows_at(x, INDEX), rows_product)
    plain = products(lambda x: x[INDEX], jnp.matmul)
    np.testing.assert_allclose(ours, plain, rtol=2e-5, atol=1e-5)


def test_a_batch_of_look_ups_copies_long_rows():
    jaxpr = jax.make_jaxpr(jax.vmap(lambda x: rows_at(x, INDEX)))(normal(0, 7, 5, 3))
    (look_up,) = [e for e in jaxpr.eqns if e.primitive.name == "rows_at"]
    assert look_up.outvars[0].aval.shape == (4, 7, 3)
