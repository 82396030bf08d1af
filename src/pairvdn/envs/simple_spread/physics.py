"""How agents move: pushed by their actions and by each other, slowed by damping.

The numbers are those of the particle world of mpe2. Everything is computed in the precision of the
state: contacts are stiff, so that two computations agree over an episode only in 64 bits.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

TIME_STEP = 0.1
DAMPING = 0.25  # share of the velocity that is lost in a step
PUSH = 5.0  # force of an action
RADIUS = 0.15  # of an agent
CONTACT_FORCE = 100.0  # per length of overlap
CONTACT_MARGIN = 0.001  # length over which a contact sets in

DIRECTIONS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))  # nothing, left, right, down, up


def between(places: Float[Array, "n 2"]) -> tuple[Float[Array, "n n 2"], Float[Array, "n n"]]:
    """Difference and distance of every two; entry [i, j] leads from j to i.

    The distance of those in one place, thus also of everyone to itself, is given as 1, so that one
    can divide by it. The force between them is then 0, where mpe2 has NaN.
    """
    difference = places[:, None] - places[None]
    squared = jnp.sum(difference**2, axis=-1)
    return difference, jnp.sqrt(jnp.where(squared > 0, squared, 1.0))


def contact_forces(position: Float[Array, "n 2"]) -> Float[Array, "n 2"]:
    """What pushes agents apart: `c k log(1 + exp((2 r - d) / k))` for two at a distance d.

    It is a smooth form of `c max(0, 2 r - d)`, with c, k, r the force, the margin and the radius.
    """
    difference, distance = between(position)
    overlap = CONTACT_MARGIN * jax.nn.softplus((2 * RADIUS - distance) / CONTACT_MARGIN)
    return jnp.sum((CONTACT_FORCE * overlap / distance)[..., None] * difference, axis=1)


def collisions(position: Float[Array, "n 2"]) -> Bool[Array, "n n"]:
    """Which two different agents overlap."""
    apart = ~jnp.eye(position.shape[0], dtype=bool)
    return apart & (jnp.sum((position[:, None] - position[None]) ** 2, axis=-1) < 4 * RADIUS**2)


def advance(
    position: Float[Array, "n 2"], velocity: Float[Array, "n 2"], actions: Int32[Array, " n"]
) -> tuple[Float[Array, "n 2"], Float[Array, "n 2"]]:
    """One step: places move with the old velocity, and forces are those at the old places."""
    directions = jnp.asarray(DIRECTIONS, position.dtype)[actions]
    force = PUSH * directions + contact_forces(position)
    return position + TIME_STEP * velocity, (1 - DAMPING) * velocity + TIME_STEP * force
