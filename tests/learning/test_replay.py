"""Replay with an id in every field: rows must never come apart or get lost."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pairvdn.learning import replay as memory
from pairvdn.learning.records import Transition


def transition(number: Any) -> Transition:
    """A transition all of whose fields say the same number."""
    real = jnp.asarray(number, jnp.float32)
    return Transition(
        observation_tm1=jnp.full((2, 3), real),
        state_tm1=jnp.full(4, real),
        actions_tm1=jnp.full(2, number, jnp.int32),
        reward_t=real,
        discount_t=real,
        observation_t=jnp.full((2, 3), real),
        state_t=jnp.full(4, real),
        # A mask has room for one bit: odd or even.
        mask_t=jnp.full((2, 5), number % 2 == 1),
    )


def block(first: int, length: int) -> Transition:
    return jax.vmap(transition)(first + jnp.arange(length))


def ids(items: Transition) -> list[int]:
    """The number of each row, after making sure that all of its fields agree on it."""
    numbers = items.actions_tm1[:, 0]
    expected = jax.vmap(transition)(numbers)
    assert jax.tree.all(jax.tree.map(jnp.array_equal, items, expected))
    return numbers.tolist()


def test_rows_hold_what_was_inserted_in_order() -> None:
    replay = memory.insert(memory.empty_like(block(0, 0), 10), block(1, 4))
    replay = memory.insert(replay, block(5, 3))
    assert (int(replay.size), int(replay.position)) == (7, 7)
    assert ids(memory.take(replay, jnp.arange(7, dtype=jnp.int32))) == [1, 2, 3, 4, 5, 6, 7]


def test_the_oldest_rows_are_written_over() -> None:
    replay = memory.empty_like(block(0, 0), 5)
    for first in (1, 4, 7, 10):  # 12 items of 3 into 5 rows: the newest 5 stay
        replay = memory.insert(replay, block(first, 3))
    assert (int(replay.size), int(replay.position)) == (5, 2)
    assert ids(replay.items) == [11, 12, 8, 9, 10]


def test_a_block_that_fills_everything_from_the_middle() -> None:
    replay = memory.insert(memory.empty_like(block(0, 0), 4), block(1, 2))
    replay = memory.insert(replay, block(3, 4))
    assert sorted(ids(replay.items)) == [3, 4, 5, 6]
    assert int(replay.size) == 4


def test_take_gives_rows_in_the_order_asked_for() -> None:
    replay = memory.insert(memory.empty_like(block(0, 0), 8), block(0, 8))
    assert ids(memory.take(replay, jnp.array([6, 1, 1, 7], jnp.int32))) == [6, 1, 1, 7]


def test_many_blocks_under_scan_equal_a_list() -> None:
    def write(replay: Any, first: Any) -> tuple[Any, None]:
        return memory.insert(replay, jax.vmap(transition)(first + jnp.arange(3))), None

    starts = 3 * jnp.arange(9)
    replay, _ = jax.jit(lambda r: jax.lax.scan(write, r, starts))(memory.empty_like(block(0, 0), 7))
    assert sorted(ids(replay.items)) == list(range(27))[-7:]


def test_an_empty_block_changes_nothing() -> None:
    replay = memory.insert(memory.empty_like(block(0, 0), 4), block(1, 2))
    assert ids(memory.insert(replay, block(0, 0)).items) == [1, 2, 0, 0]


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="capacity must be at least 1, not 0"):
        memory.empty_like(block(0, 0), 0)
    with pytest.raises(ValueError, match="block of 5 items does not fit a replay of 4"):
        memory.insert(memory.empty_like(block(0, 0), 4), block(0, 5))


def test_insert_compiles_to_writes_in_place() -> None:
    """With the buffer donated, nothing of its size is allocated besides it."""
    rows = 5_000
    replay = memory.empty_like(block(0, 0), rows)
    compiled = jax.jit(memory.insert, donate_argnums=0).lower(replay, block(0, 8)).compile()
    analysis = compiled.memory_analysis()
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(replay))
    assert analysis.alias_size_in_bytes >= size - 64
    assert analysis.temp_size_in_bytes < size / 10
