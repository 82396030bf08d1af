"""Targets by numbers worked out by hand."""

import jax.numpy as jnp
import pytest

from pairvdn.learning.targets import n_step_return, td_target


def fold(rewards: list[float], discounts: list[float], ended: list[bool]) -> tuple[float, ...]:
    total, discount, last = n_step_return(
        jnp.array(rewards, jnp.float32), jnp.array(discounts, jnp.float32), jnp.array(ended)
    )
    return float(total), float(discount), int(last)


def test_target_of_each_head() -> None:
    target = td_target(jnp.float32(1.0), jnp.float32(0.5), jnp.array([4.0, -2.0, 0.0]))
    assert target.tolist() == [3.0, 0.0, 1.0]


@pytest.mark.parametrize("nothing_to_choose", [-jnp.inf, jnp.nan, jnp.inf])
def test_after_termination_the_next_value_is_not_looked_at(nothing_to_choose: float) -> None:
    target = td_target(jnp.float32(1.5), jnp.float32(0.0), jnp.array([nothing_to_choose]))
    assert target.tolist() == [1.5]


def test_window_within_an_episode() -> None:
    # 1 + 0.5 * 2 + 0.25 * 4 = 3, then 0.125 of the value three decisions on.
    assert fold([1, 2, 4], [0.5, 0.5, 0.5], [False] * 3) == (3.0, 0.125, 2)


def test_window_over_a_truncation_bootstraps_from_the_final_observation() -> None:
    # The 100 belongs to the next episode. The truncated decision keeps its discount.
    assert fold([1, 2, 100], [0.5, 0.5, 0.5], [False, True, False]) == (2.0, 0.25, 1)


def test_window_over_a_termination_does_not_bootstrap() -> None:
    assert fold([1, 2, 100], [0.5, 0.0, 0.5], [False, True, False]) == (2.0, 0.0, 1)


def test_window_that_ends_with_the_episode() -> None:
    assert fold([1, 2, 4], [0.5, 0.5, 0.5], [False, False, True]) == (3.0, 0.125, 2)


def test_window_over_two_ends_stops_at_the_first() -> None:
    assert fold([8, 1, 1, 1], [0.5] * 4, [True, False, True, False]) == (8.0, 0.5, 0)


def test_held_actions_discount_each_decision_by_its_own_steps() -> None:
    # Two decisions of 2 steps and one of 1: γ², γ², γ with γ = 0.5.
    total, discount, last = fold([1, 1, 1], [0.25, 0.25, 0.5], [False, False, False])
    assert (total, discount, last) == (1.3125, 0.03125, 2)


def test_one_step_window_is_the_decision_itself() -> None:
    assert fold([7], [0.9], [False]) == pytest.approx((7.0, 0.9, 0))
