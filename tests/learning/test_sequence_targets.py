"""Targets inside a sequence, against closed forms and against the windows of single transitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairvdn.learning.targets import (
    lambda_targets,
    n_step_return,
    n_step_targets,
    rescaled,
    td_target,
    unscaled,
)

REWARD = jnp.array([1.0, 2.0, 3.0, 4.0, 5.0])
DISCOUNT = jnp.full(5, 0.5)
VALUE = jnp.array([10.0, 20.0, 30.0, 40.0, 50.0])[:, None]  # after each step
ACTED = jnp.ones(5, bool)


def test_lambda_0_is_the_one_step_target() -> None:
    targets = lambda_targets(REWARD, DISCOUNT, VALUE, ACTED, 0.0)
    np.testing.assert_allclose(targets, jax.vmap(td_target)(REWARD, DISCOUNT, VALUE))
    np.testing.assert_array_equal(targets, n_step_targets(REWARD, DISCOUNT, VALUE, ACTED, 1))


def test_lambda_1_is_the_monte_carlo_return() -> None:
    targets = lambda_targets(REWARD, DISCOUNT, VALUE, ACTED, 1.0)
    # Σ 0.5^i r_i, and the last value.
    expected, after = [], 50.0
    for reward in (5.0, 4.0, 3.0, 2.0, 1.0):
        after = reward + 0.5 * after
        expected.append(after)
    np.testing.assert_allclose(targets[:, 0], expected[::-1])


def test_lambda_is_the_mean_of_n_step_targets() -> None:
    """G^λ = (1 - λ) Σ_n λ^(n-1) Gⁿ, and the rest of the weight on the longest."""
    decay = 0.7
    each = [n_step_targets(REWARD, DISCOUNT, VALUE, ACTED, n) for n in (1, 2, 3, 4, 5)]
    weights = [(1 - decay) * decay**n for n in range(4)]
    weights.append(1 - sum(weights))
    mixed = sum(weight * one for weight, one in zip(weights, each, strict=True))
    targets = lambda_targets(REWARD, DISCOUNT, VALUE, ACTED, decay)
    np.testing.assert_allclose(targets, mixed, rtol=1e-6)


def test_nothing_crosses_a_termination() -> None:
    discount = DISCOUNT.at[2].set(0.0)
    for targets in (
        lambda_targets(REWARD, discount, VALUE.at[2:].set(jnp.nan), ACTED, 1.0),
        n_step_targets(REWARD, discount, VALUE.at[2:].set(jnp.nan), ACTED, 4),
    ):
        np.testing.assert_allclose(targets[:3, 0], [1 + 0.5 * (2 + 0.5 * 3), 2 + 0.5 * 3, 3])


def test_a_truncated_episode_bootstraps_from_its_final_observation() -> None:
    """After step 1 no step is taken: its value is bootstrapped, whatever comes later."""
    acted = ACTED.at[1].set(False)
    poisoned = REWARD.at[2:].set(jnp.nan)
    for targets in (
        lambda_targets(poisoned, DISCOUNT, VALUE, acted, 1.0),
        n_step_targets(poisoned, DISCOUNT, VALUE, acted, 5),
    ):
        np.testing.assert_allclose(targets[:2, 0], [1 + 0.5 * (2 + 0.5 * 20), 2 + 0.5 * 20])


@given(
    st.lists(st.sampled_from(["runs", "terminates"]), min_size=1, max_size=8),
    st.integers(1, 6),
    st.integers(0, 2**31 - 1),
)
def test_n_step_targets_are_those_of_windows(ends: list[str], n_step: int, seed: int) -> None:
    """`n_step_return` folds the same window, cut where the sequence ends."""
    rng, k = np.random.default_rng(seed), len(ends)
    terminated = np.array([end == "terminates" for end in ends])
    reward, value = (jnp.asarray(rng.normal(size=k), jnp.float32) for _ in range(2))
    discount = jnp.where(terminated, 0.0, 0.9)
    targets = n_step_targets(reward, discount, value[:, None], jnp.ones(k, bool), n_step)
    for first in range(k):
        window = slice(first, first + n_step)
        total, weight, last = n_step_return(
            reward[window], discount[window], jnp.asarray(terminated)[window]
        )
        expected = total + weight * value[first + int(last)]
        assert float(targets[first, 0]) == pytest.approx(float(expected), abs=1e-5)


def test_rescaling_has_its_closed_form_and_an_inverse() -> None:
    x = np.array([-1e4, -10.0, -1.0, -1e-3, 0.0, 1e-3, 0.1, 3.0, 100.0, 1e6])
    expected = np.sign(x) * (np.sqrt(np.abs(x) + 1) - 1) + 1e-3 * x
    scaled = rescaled(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(scaled, expected, rtol=1e-5)
    np.testing.assert_allclose(unscaled(scaled), x, rtol=1e-5)
    assert float(rescaled(jnp.float32(3.0))) == pytest.approx(1.003)
