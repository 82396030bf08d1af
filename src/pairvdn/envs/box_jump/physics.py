"""One physics step: forces, contacts, motion, and who fell off."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.box_jump import turning, upright
from pairvdn.envs.box_jump.contacts import Place
from pairvdn.envs.box_jump.once import Once
from pairvdn.envs.box_jump.pairing import num_rounds
from pairvdn.envs.box_jump.presets import Parameters
from pairvdn.envs.box_jump.settings import Settings
from pairvdn.envs.box_jump.types import Bodies, Impulses, Motion

LEFT, RIGHT, JUMP = 1, 2, 3
MAX_TRANSLATION = 2.0  # in one physics step, as in Box2D; only boxes that fell off get so fast
FAR_AWAY = 1e4  # where no contact is looked for


def settings_of(parameters: Parameters) -> Settings:
    """What the contact solvers need to know. Friction mixes as the geometric mean, as in Box2D."""
    return Settings(
        floor=(parameters.floor_left, parameters.width),
        box_friction=parameters.box_friction,
        floor_friction=math.sqrt(parameters.box_friction * parameters.floor_friction),
        time_step=parameters.time_step,
        velocity_iterations=parameters.velocity_iterations,
        position_iterations=parameters.position_iterations,
    )


def num_bodies(parameters: Parameters) -> int:
    """Boxes that the contact solver sees: an even number, so that everyone has a partner."""
    return parameters.num_boxes + parameters.num_boxes % 2


def no_impulses(parameters: Parameters, batch: tuple[int, ...] = ()) -> Impulses:
    """The impulses at a reset."""
    rows = 2 if parameters.fixed_rotation else 3
    bodies = num_bodies(parameters)
    pairs = (num_rounds(bodies), bodies // 2, *batch)
    return Impulses(
        pair=(jnp.zeros(pairs),) * rows,
        pair_side=jnp.zeros(pairs, jnp.int8),
        floor=(jnp.zeros((bodies, *batch)),) * rows,
    )


def drive(
    velocity: Motion,
    actions: Int32[Array, "n *b"],
    can_jump: Bool[Array, "n *b"],
    parameters: Parameters,
) -> Motion:
    """Speeds after the actions' forces, gravity and damping acted for one physics step."""
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
    impulses: Impulses,
    fallen: Bool[Array, "n *b"],
    parameters: Parameters,
    once: Once,
) -> tuple[Bodies, Impulses]:
    """Move boxes whose forces already acted by one physics step."""
    extra = num_bodies(parameters) - parameters.num_boxes
    velocity: Motion = jax.tree.map(lambda v: _pad(v, extra), bodies.velocity)
    out = _pad(fallen, extra, True)
    # A fallen box, and the extra one, must touch nobody: everyone looks for them far away.
    places = FAR_AWAY * (1.0 + jnp.arange(out.shape[0], dtype=jnp.float32))
    away = jnp.expand_dims(places, tuple(range(1, out.ndim)))
    place = Place(
        jnp.where(out, away, _pad(bodies.x, extra)),
        jnp.where(out, 0.0, _pad(bodies.y, extra)),
        _pad(jnp.cos(bodies.angle), extra, 1.0),
        _pad(jnp.sin(bodies.angle), extra),
    )
    solve = upright.solve if parameters.fixed_rotation else turning.solve
    velocity, move, impulses = solve(place, velocity, impulses, out, settings_of(parameters), once)
    velocity, move = jax.tree.map(lambda v: v[: parameters.num_boxes], (velocity, move))
    moved = Bodies(bodies.x + move.x, bodies.y + move.y, bodies.angle + move.turn, velocity)
    return moved, impulses


def fell_off(bodies: Bodies, parameters: Parameters) -> Bool[Array, "n *b"]:
    """Whether a box's centre is below the floor's level and beside the floor."""
    beside = (bodies.x < parameters.floor_left) | (bodies.x > parameters.width)
    return beside & (bodies.y < 0)


def _pad(x: Array, extra: int, value: float | bool = 0.0) -> Array:
    return jnp.pad(x, [(0, extra)] + [(0, 0)] * (x.ndim - 1), constant_values=value)
