"""Which rows are learned from."""

import jax
import jax.numpy as jnp
import pytest

from pairvdn.learning.replay import Passes, RandomBatches, WholePass


@pytest.mark.parametrize("size", [0, 7, 64, 99, 100])
def test_a_pass_sees_every_row_in_use_at_most_once_and_no_other(size: int) -> None:
    rows, count = WholePass(8).rows(jax.random.key(1), jnp.int32(size), 100)
    seen = rows[: int(count)].ravel().tolist()
    assert int(count) == size // 8
    assert len(set(seen)) == len(seen) == 8 * (size // 8)
    assert all(0 <= row < size for row in seen)


def test_a_pass_is_shuffled_differently_by_each_key() -> None:
    first, _ = WholePass(8).rows(jax.random.key(1), jnp.int32(96), 100)
    second, _ = WholePass(8).rows(jax.random.key(2), jnp.int32(96), 100)
    assert first.ravel().tolist() != list(range(96))
    assert not jnp.array_equal(first, second)


def test_the_incomplete_batch_that_is_left_out_is_not_always_the_same() -> None:
    def left_out(key: jax.Array) -> jax.Array:
        rows, count = WholePass(8).rows(key, jnp.int32(9), 16)
        return 36 - jnp.sum(jnp.where(jnp.arange(2)[:, None] < count, rows, 0))

    assert len(set(jax.vmap(left_out)(jax.random.split(jax.random.key(0), 64)).tolist())) == 9


def test_random_batches_cover_the_rows_in_use() -> None:
    rows, count = RandomBatches(50, 10).rows(jax.random.key(0), jnp.int32(20), 1000)
    assert rows.shape == (10, 50)
    assert int(count) == 10
    assert set(rows.ravel().tolist()) == set(range(20))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        WholePass(0)
    with pytest.raises(ValueError, match="num_updates must be at least 1"):
        RandomBatches(1, 0)


def test_passes_see_every_row_once_each_and_in_another_order() -> None:
    rows, count = Passes(8, num_passes=3).rows(jax.random.key(0), jnp.int32(24), 24)
    assert (rows.shape, int(count)) == ((9, 8), 9)
    orders = rows.reshape(3, 24).tolist()
    assert all(sorted(order) == list(range(24)) for order in orders)
    assert orders[0] != orders[1] != orders[2]


def test_a_pass_drops_an_incomplete_batch() -> None:
    rows, count = Passes(8).rows(jax.random.key(0), jnp.int32(23), 23)
    assert (rows.shape, int(count)) == ((2, 8), 2)
