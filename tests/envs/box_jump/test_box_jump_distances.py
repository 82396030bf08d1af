"""The four observed distances against a plain re-computation."""

import math

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from pairvdn.envs.box_jump.observe import Distances, by_all_pairs, by_row

BATCH = 3


def plainly(x: np.ndarray, y: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """[left, right, above, below] of every box, by two loops over boxes."""
    result = np.full((4, len(x)), math.inf, np.float32)
    for me in range(len(x)):
        for other in range(len(x)):
            if me == other or not (seen[me] and seen[other]):
                continue
            dx, dy = x[other] - x[me], y[other] - y[me]
            if abs(dy) < np.float32(0.9) and dx != 0:
                side = 0 if dx < 0 else 1
                result[side, me] = min(result[side, me], abs(dx))
            if abs(dx) < np.float32(0.9) and dy != 0:
                side = 2 if dy > 0 else 3
                result[side, me] = min(result[side, me], abs(dy))
    return result


@pytest.mark.parametrize("method", [by_all_pairs, by_row])
@pytest.mark.parametrize("boxes", [1, 7, 40])
@given(data=st.data())
def test_distances_are_those_of_the_plain_loops(method, boxes: int, data: st.DataObject) -> None:
    # Few different places, so that boxes often share an x or a y or just miss the overlap.
    place = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0, 1.5, 2.4, 7.0, 20.0])
    # XLA flushes subnormal numbers to 0, NumPy does not.
    small = st.floats(0, 0.25, width=32, allow_subnormal=False)
    jitter = arrays.arrays(np.float32, (2, boxes, BATCH), elements=small)
    places = data.draw(arrays.arrays(np.float32, (2, boxes, BATCH), elements=place))
    x, y = places + data.draw(jitter)
    seen = data.draw(arrays.arrays(bool, (boxes, BATCH)))
    found = np.array(jax.jit(method)(jnp.where(seen, x, jnp.inf), jnp.asarray(y)))
    for example in range(BATCH):
        expected = plainly(x[:, example], y[:, example], seen[:, example])
        np.testing.assert_array_equal(found[:, :, example], expected)


def test_an_arrangement_worked_out_by_hand() -> None:
    found = by_row(jnp.array([0.0, 3.0, 3.2, jnp.inf]), jnp.array([0.5, 0.5, 1.5, 0.5]))
    inf = math.inf
    expected = Distances(
        left=np.array([inf, 3.0, inf, inf]),
        right=np.array([3.0, inf, inf, inf]),
        above=np.array([inf, 1.0, inf, inf]),
        below=np.array([inf, inf, 1.0, inf]),
    )
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, wanted)
