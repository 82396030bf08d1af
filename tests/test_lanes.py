"""A function of arrays [..., lanes] becomes one of a single example, and batches give the same."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.lanes import in_lanes


def double(x: jax.Array, y: dict[str, jax.Array]) -> Any:
    """On arrays [..., batch]: mixes the axes before the last one only."""
    assert x.shape[-1] == y["y"].shape[-1]
    return {"sum": 2 * x + jnp.sum(y["y"], axis=0), "y": y["y"][::-1]}


@pytest.mark.parametrize("chunk", [None, 4])
@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_chunks_give_what_single_examples_give(size: int, chunk: int | None) -> None:
    function = in_lanes(double, chunk=chunk)
    x = jnp.arange(size, dtype=jnp.float32)
    y = {"y": jnp.arange(2.0 * size).reshape(size, 2)}
    together = jax.vmap(function)(x, y)
    for i in range(size):
        alone = function(x[i], {"y": y["y"][i]})
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[i]), alone, together)  # noqa: B023


def test_nested_vmaps_become_one_batch() -> None:
    function = in_lanes(double, chunk=4)
    x = jnp.arange(6.0).reshape(2, 3)
    y = {"y": jnp.arange(12.0).reshape(2, 3, 2)}
    nested = jax.vmap(jax.vmap(function))(x, y)
    flat = jax.vmap(function)(x.ravel(), {"y": y["y"].reshape(6, 2)})
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a.reshape(b.shape), b), nested, flat)


def test_arguments_that_all_examples_share() -> None:
    function = in_lanes(double, chunk=4)
    y = {"y": jnp.arange(2.0)}
    shared = jax.vmap(function, in_axes=(0, None))(jnp.arange(3.0), y)
    np.testing.assert_array_equal(shared["sum"], 2 * np.arange(3) + 1)
    np.testing.assert_array_equal(shared["y"], [[1, 0]] * 3)


@pytest.mark.parametrize(("chunk", "largest"), [(None, 9), (4, 3), (9, 9), (5, 5)])
def test_no_chunk_is_larger_than_asked_for_and_all_are_alike(
    chunk: int | None, largest: int
) -> None:
    seen = []

    def note(x: jax.Array) -> jax.Array:
        seen.append(x.shape[-1])
        return 2 * x

    x = jnp.arange(9.0)
    np.testing.assert_array_equal(jax.vmap(in_lanes(note, chunk=chunk))(x), 2 * x)
    assert max(seen) == largest


@pytest.mark.parametrize("chunk", [None, 4])
def test_arrays_without_entries(chunk: int | None) -> None:
    def total(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.sum(x, axis=0), x

    nested = jax.vmap(jax.vmap(in_lanes(total, chunk=chunk)))(jnp.zeros((2, 3, 0)))
    np.testing.assert_array_equal(nested[0], np.zeros((2, 3)))
    assert nested[1].shape == (2, 3, 0)
