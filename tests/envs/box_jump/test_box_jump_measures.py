"""What Box Jump tells beyond its reward, on places made by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from pairvdn.envs import make
from pairvdn.envs.box_jump.types import BoxJumpState


def placed(x: list[float], y: list[float], *, best: float = 0.0) -> BoxJumpState:
    """Boxes at these places, all of which stood long enough to jump."""
    state, _ = make("box-jump", num_boxes=len(x)).reset(jax.random.key(0))
    return eqx.tree_at(
        lambda s: (s.bodies.x, s.bodies.y, s.calm, s.counted),
        state,
        (jnp.array(x), jnp.array(y), jnp.full(len(x), 99, jnp.int32), jnp.float32(best)),
    )


def test_heights_in_boxes_and_in_the_unit_of_the_paper() -> None:
    env = make("box-jump", num_boxes=2)
    measures = env.measures(placed([1.0, 5.0], [0.5, 0.5], best=3.0))
    assert float(measures["best_height"]) == 3.0
    assert float(measures["paper_score"]) == pytest.approx(1.2)


@pytest.mark.parametrize("fixed_rotation", [False, True])
def test_the_score_is_the_return_of_the_preset_of_the_table(fixed_rotation: bool) -> None:
    env = make("box-jump", variant="table1", num_boxes=3, fixed_rotation=fixed_rotation)
    state, _ = env.reset(jax.random.key(0))
    step_once = jax.jit(env.step)
    total = 0.0
    for step in range(30):
        state, timestep = step_once(jax.random.key(1), state, jnp.full(3, 3, jnp.int32))
        total += float(timestep.reward)
        if step in (0, 29):
            assert float(env.measures(state)["paper_score"]) == pytest.approx(total, abs=1e-5)


def test_distance_to_the_nearest_neighbour() -> None:
    env = make("box-jump", num_boxes=3)
    state = placed([1.0, 2.0, 5.0], [0.5, 0.5, 4.5])
    assert float(env.measures(state)["nearest_neighbour"]) == pytest.approx((1 + 1 + 5) / 3)
    fallen = eqx.tree_at(lambda s: s.fallen, state, jnp.array([False, True, False]))
    distance = (4.0**2 + 4.0**2) ** 0.5
    assert float(env.measures(fallen)["nearest_neighbour"]) == pytest.approx(distance)
    assert float(env.measures(fallen)["fallen"]) == 1.0


def test_a_box_that_is_alone_is_as_far_as_the_map_is_wide() -> None:
    env = make("box-jump", num_boxes=2)
    state = eqx.tree_at(
        lambda s: s.fallen, placed([1.0, 2.0], [0.5, 0.5]), jnp.array([True, False])
    )
    assert float(env.measures(state)["nearest_neighbour"]) == env.parameters.width


@pytest.mark.parametrize(
    ("actions", "part", "whole"),
    [
        ([3, 3, 3, 3], 1, 1),  # box 1 stands on box 0; 2 and 3 stand alone, so they do not count
        ([3, 0, 3, 3], 0, 1),
        ([0, 3, 3, 3], 0, 0),  # nobody is on top of 1
        ([0, 1, 2, 0], 0, 0),
    ],
)
def test_synchrony_counts_jumps_with_a_load(actions: list[int], part: int, whole: int) -> None:
    env = make("box-jump", num_boxes=4)
    state = placed([2.0, 2.4, 6.0, 9.0], [0.5, 1.5, 0.5, 0.5])
    share = env.shares(state, jnp.array(actions, jnp.int32))["synchrony"]
    assert (int(share.part), int(share.whole)) == (part, whole)


def test_a_load_that_cannot_jump_does_not_jump_together() -> None:
    env = make("box-jump", num_boxes=2)
    state = placed([2.0, 2.4], [0.5, 1.5])
    restless = eqx.tree_at(lambda s: s.calm, state, jnp.array([99, 0], jnp.int32))
    share = env.shares(restless, jnp.array([3, 3], jnp.int32))["synchrony"]
    assert (int(share.part), int(share.whole)) == (0, 1)
