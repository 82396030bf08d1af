"""One physics step: forces, contacts, motion and falls."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.box_jump import nearby_pairs, solver_rotating, solver_upright
from pairvdn.envs.box_jump.contacts import SKIN, Place
from pairvdn.envs.box_jump.one_pass import in_one_pass
from pairvdn.envs.box_jump.pair_sweeps import BLOCK, Sweep, all_pairs, near_pairs, no_rows
from pairvdn.envs.box_jump.types import Bodies, Impulses, Motion, RowMemory, SolverSettings
from pairvdn.envs.box_jump.variants import Parameters

LEFT, RIGHT, JUMP = 1, 2, 3
MAX_TRANSLATION = 2.0  # in one physics step, as in Box2D; only fallen boxes are that fast
FAR_AWAY = 1e4  # far from all contacts


def settings_of(parameters: Parameters) -> SolverSettings:
    """The settings of the contact solvers. Friction mixes as the geometric mean, as in Box2D."""
    return SolverSettings(
        floor=(parameters.floor_left, parameters.width),
        box_friction=parameters.box_friction,
        floor_friction=math.sqrt(parameters.box_friction * parameters.floor_friction),
        time_step=parameters.time_step,
        velocity_iterations=parameters.velocity_iterations,
        position_iterations=parameters.position_iterations,
    )


def num_bodies(parameters: Parameters) -> int:
    """The number of boxes in the contact solver, padded so that each has a partner."""
    multiple = 2 if parameters.num_boxes < nearby_pairs.LEAST_BOXES else 2 * BLOCK
    return -(-parameters.num_boxes // multiple) * multiple


def num_pairs(parameters: Parameters) -> int:
    """Pairs that a sweep over the boxes visits."""
    bodies = num_bodies(parameters)
    many = parameters.num_boxes >= nearby_pairs.LEAST_BOXES
    return (3 * BLOCK - 1 if many else bodies - 1) * bodies // 2


def no_memory(parameters: Parameters) -> Impulses | RowMemory:
    """The empty memory of the contact solver."""
    bodies = num_bodies(parameters)
    many = parameters.num_boxes >= nearby_pairs.LEAST_BOXES
    sweep = (near_pairs if many else all_pairs)(bodies)
    rows = 2 if parameters.fixed_rotation else 3
    impulses = Impulses(
        pair=(no_rows(sweep, bodies, jnp.float32),) * rows,
        pair_side=no_rows(sweep, bodies, jnp.int8),
        floor=(jnp.zeros(bodies),) * rows,
    )
    return RowMemory(impulses, jnp.arange(bodies, dtype=jnp.int32)) if many else impulses


def drive(
    velocity: Motion,
    actions: Int32[Array, "n *b"],
    can_jump: Bool[Array, "n *b"],
    parameters: Parameters,
) -> Motion:
    """Velocities after one physics step of the actions' forces, gravity and damping."""
    left = (actions == LEFT) & (velocity.x >= -parameters.walk_speed)
    right = (actions == RIGHT) & (velocity.x <= parameters.walk_speed)
    jump = (actions == JUMP) & can_jump
    walk = jnp.where(right, parameters.walk_force, 0.0) - jnp.where(
        left, parameters.walk_force, 0.0
    )
    lift = jnp.where(jump, parameters.jump_force, 0.0) - parameters.gravity
    damping = 1.0 + parameters.time_step * parameters.angular_damping
    fastest = MAX_TRANSLATION / parameters.time_step
    return Motion(
        velocity.x + parameters.time_step * walk,
        jnp.maximum(velocity.y + parameters.time_step * lift, -fastest),
        velocity.turn / damping,
    )


def advance(
    bodies: Bodies,
    memory: Impulses | RowMemory,
    fallen: Bool[Array, "n *b"],
    parameters: Parameters,
) -> tuple[Bodies, Impulses | RowMemory]:
    """Solve contacts and move the boxes by one physics step, after `drive`."""
    extra = num_bodies(parameters) - parameters.num_boxes
    velocity: Motion = jax.tree.map(lambda v: _pad(v, extra), bodies.velocity)
    out = _pad(fallen, extra, True)
    # Fallen and padding boxes must touch no other box: for contacts they are far away.
    spread = FAR_AWAY * (1.0 + jnp.arange(out.shape[0], dtype=jnp.float32))
    away = jnp.expand_dims(spread, tuple(range(1, out.ndim)))
    place, velocity = in_one_pass(
        (
            Place(
                jnp.where(out, away, _pad(bodies.x, extra)),
                jnp.where(out, 0.0, _pad(bodies.y, extra)),
                _pad(jnp.cos(bodies.angle), extra, 1.0),
                _pad(jnp.sin(bodies.angle), extra),
            ),
            velocity,
        )
    )
    method = solver_upright.solve if parameters.fixed_rotation else solver_rotating.solve
    settings = settings_of(parameters)

    def solve(sweep: Sweep, boxes: Any, impulses: Impulses) -> tuple[Any, Impulses]:
        place, velocity, out = boxes
        velocity, move, impulses = method(sweep, place, velocity, out, impulses, settings)
        return (velocity, move), impulses

    boxes = (place, velocity, out)
    if isinstance(memory, RowMemory):
        reach = 1.0 + SKIN if parameters.fixed_rotation else math.sqrt(2) + SKIN
        (velocity, move), memory = nearby_pairs.solve_in_row(solve, boxes, place.x, reach, memory)
    else:
        (velocity, move), memory = solve(all_pairs(len(out)), boxes, memory)
    velocity, move = jax.tree.map(lambda v: v[: parameters.num_boxes], (velocity, move))
    moved = Bodies(bodies.x + move.x, bodies.y + move.y, bodies.angle + move.turn, velocity)
    return in_one_pass(moved), memory


def fell_off(bodies: Bodies, parameters: Parameters) -> Bool[Array, "n *b"]:
    """Whether a box's centre is below the floor's level and beside the floor."""
    beside = (bodies.x < parameters.floor_left) | (bodies.x > parameters.width)
    return beside & (bodies.y < 0)


def _pad(x: Array, extra: int, value: float | bool = 0.0) -> Array:
    return jnp.pad(x, [(0, extra)] + [(0, 0)] * (x.ndim - 1), constant_values=value)
