"""Box Jump scenes, played in our physics and in Box2D from the same start with the same actions."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from box2d_world import start_like

from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.types import BoxJumpState

REST = 0.515  # height of the centre of a box that lies on the floor, in Box2D and here
STACK = 1.015  # distance of the centres of boxes that lie on each other


@eqx.filter_jit
def _reset(env: BoxJump) -> BoxJumpState:
    return env.reset(jax.random.key(0))[0]


def place(env: BoxJump, x: Any, y: Any, *, angle: Any = 0.0, vx: Any = 0.0) -> BoxJumpState:
    """A fresh state with the boxes somewhere else."""
    state = _reset(env)

    def full(value: Any) -> jax.Array:
        return jnp.broadcast_to(jnp.asarray(value, jnp.float32), (env.num_agents,))

    return eqx.tree_at(
        lambda s: (s.bodies.x, s.bodies.y, s.bodies.angle, s.bodies.velocity.x),
        state,
        (full(x), full(y), full(angle), full(vx)),
    )


@eqx.filter_jit
def _step(env: BoxJump, state: BoxJumpState, actions: jax.Array) -> BoxJumpState:
    return env.step(jax.random.key(0), state, actions)[0]


def play(env: BoxJump, state: BoxJumpState, actions: Any) -> np.ndarray:
    """x, y and angle of every box after every step: [t, 3, n]."""
    places = []
    for action in np.asarray(actions, np.int32):
        state = _step(env, state, action)
        places.append((state.bodies.x, state.bodies.y, state.bodies.angle))
    return np.array(jax.device_get(places))


def play_in_box2d(env: BoxJump, state: BoxJumpState, actions: Any) -> np.ndarray:
    """The same in Box2D."""
    world = start_like(state, env.parameters)
    places = []
    for action in np.asarray(actions):
        world.step(action)
        places.append(world.places)
    return np.array(places)
