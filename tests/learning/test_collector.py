"""The stream of transitions, followed step by step through an environment that only counts."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from counter import Counter, first_allowed
from probes import quick_jit

from pairvdn.learning.collector import Collector
from pairvdn.learning.recorders import Windows
from pairvdn.learning.records import Transition


def gather(collector: Collector, *decisions: int) -> tuple[list[Transition], list[Any]]:
    """Blocks of so many decisions one after the other, and their statistics."""
    start = quick_jit(collector.start, static_argnums=(1, 2))
    collect = quick_jit(collector.collect, static_argnums=(1, 3))
    collecting, block, stat = start(jax.random.key(0), first_allowed, decisions[0])
    blocks, stats = [block], [stat]
    for number in decisions[1:]:
        collecting, block, stat = collect(collecting, first_allowed, jax.random.key(number), number)
        blocks.append(block)
        stats.append(stat)
    return blocks, stats


def from_to(block: Transition) -> list[tuple[float, float]]:
    """What was seen at the decision and at its end."""
    return list(
        zip(
            block.observation_tm1.ravel().tolist(),
            block.observation_t.ravel().tolist(),
            strict=True,
        )
    )


def test_one_step_transitions_end_in_the_final_observation_not_in_the_reset() -> None:
    [block], [stats] = gather(Collector(Counter(3), discount=0.5), 7)
    assert from_to(block) == [(0, 1), (1, 2), (2, 3), (0, 1), (1, 2), (2, 3), (0, 1)]
    assert block.reward_t.tolist() == [1, 2, 3, 1, 2, 3, 1]
    assert block.discount_t.tolist() == [0.5] * 7  # truncation bootstraps
    assert (int(stats.env_steps), int(stats.episodes), float(stats.returns)) == (7, 2, 12.0)


def test_terminated_wins_over_truncated() -> None:
    [block], _ = gather(Collector(Counter(2, terminates=True), discount=0.5), 4)
    assert block.discount_t.tolist() == [0.5, 0.0, 0.5, 0.0]


def test_masks_and_states_are_those_of_the_end() -> None:
    [block], _ = gather(Collector(Counter(3)), 4)
    assert block.mask_t[:, 0].tolist() == [
        [False, True], [True, False], [False, True], [False, True]
    ]  # fmt: skip
    assert block.state_t.ravel().tolist() == [1, 2, 3, 1]
    assert block.state_tm1.ravel().tolist() == [0, 1, 2, 0]
    assert block.actions_tm1.ravel().tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("terminates", [False, True])
def test_windows_of_three_decisions_are_cut_at_the_end(terminates: bool) -> None:
    [block], _ = gather(Collector(Counter(4, terminates), recorder=Windows(3), discount=0.5), 6)
    assert from_to(block) == [(0, 3), (1, 4), (2, 4), (3, 4), (0, 3), (1, 4)]
    # 1 + 2/2 + 3/4, 2 + 3/2 + 4/4, 3 + 4/2, 4, and again.
    assert block.reward_t.tolist() == [2.75, 4.5, 5, 4, 2.75, 4.5]
    end = [0.125, 0.25, 0.5] if not terminates else [0, 0, 0]
    assert block.discount_t.tolist() == [0.125, *end, 0.125, end[0]]


def test_windows_do_not_notice_where_blocks_meet() -> None:
    collector = Collector(Counter(5), num_envs=2, recorder=Windows(3), discount=0.5)
    [whole], _ = gather(collector, 8)
    parts, _ = gather(collector, 1, 2, 5)
    joined = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
    assert jax.tree.all(jax.tree.map(jnp.array_equal, whole, joined))


def test_held_actions_discount_every_step_and_stop_at_the_end() -> None:
    [block], [stats] = gather(Collector(Counter(5), action_repeat=2, discount=0.5), 4)
    assert from_to(block) == [(0, 2), (2, 4), (4, 5), (0, 2)]
    assert block.reward_t.tolist() == [1 + 1, 3 + 2, 5, 1 + 1]
    assert block.discount_t.tolist() == [0.25, 0.25, 0.5, 0.25]
    assert (int(stats.env_steps), int(stats.episodes), float(stats.returns)) == (7, 1, 15.0)


def test_windows_over_held_actions() -> None:
    [block], _ = gather(
        Collector(Counter(5), action_repeat=2, recorder=Windows(2), discount=0.5), 3
    )
    assert from_to(block) == [(0, 4), (2, 5), (4, 5)]
    assert block.reward_t.tolist() == [2 + 5 / 4, 5 + 5 / 4, 5]
    assert block.discount_t.tolist() == [1 / 16, 1 / 8, 1 / 2]


def test_environments_are_side_by_side_and_oldest_first() -> None:
    [block], [stats] = gather(Collector(Counter(3), num_envs=2), 4)
    assert block.observation_tm1.ravel().tolist() == [0, 0, 1, 1, 2, 2, 0, 0]
    assert (int(stats.env_steps), int(stats.episodes), float(stats.returns)) == (8, 2, 12.0)


@pytest.mark.parametrize("name", ["num_envs", "action_repeat"])
def test_wrong_numbers_are_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        Collector(Counter(3), **{name: 0})


def test_a_window_has_at_least_one_step() -> None:
    with pytest.raises(ValueError, match="n_step must be from 1 to 1000000, not 0"):
        Windows(0)


def test_wrong_discount_is_named() -> None:
    with pytest.raises(ValueError, match=r"discount must be from 0 to 1, not 1\.1"):
        Collector(Counter(3), discount=1.1)


def test_the_mask_before_a_window_is_kept_on_request() -> None:
    [block], _ = gather(Collector(Counter(4), recorder=Windows(2, keeps_mask=True)), 3)
    assert block.mask_tm1 is not None
    assert block.mask_tm1.shape == block.mask_t.shape
    [block], _ = gather(Collector(Counter(4), recorder=Windows(2)), 3)
    assert block.mask_tm1 is None
