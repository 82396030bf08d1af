"""The boxes at the start of an episode."""

import jax
import jax.numpy as jnp

from pairvdn.envs.box_jump.types import Bodies, Motion
from pairvdn.envs.box_jump.variants import Parameters
from pairvdn.types import PRNGKey


def start(key: PRNGKey, parameters: Parameters) -> Bodies:
    """The boxes in a row around the middle of the map, optionally some in a tower."""
    n = parameters.num_boxes
    noise_key, kick_key = jax.random.split(key)
    middle = parameters.width / 2 - parameters.spacing * (n - 1) / 2
    noise = jax.random.uniform(noise_key, (n,), minval=-1.0)
    kick = jax.random.uniform(kick_key, (n,), minval=-1.0)
    bodies = Bodies(
        x=middle
        + parameters.spacing * jnp.arange(n, dtype=jnp.float32)
        + parameters.start_noise * noise,
        # Adding 0 times the noise hides a constant: otherwise the compiler would slowly evaluate
        # the first observation of the whole batch at compile time.
        y=0.5 + parameters.start_height + 0.0 * noise,
        angle=jnp.zeros(n),
        velocity=Motion(parameters.start_kick * kick, jnp.zeros(n), jnp.zeros(n)),
    )
    if not parameters.start_tower:
        return bodies
    return _with_tower(jax.random.fold_in(key, 1), bodies, parameters.start_tower)


def _with_tower(key: PRNGKey, bodies: Bodies, most: int) -> Bodies:
    """Stack k random boxes at the position of one of them, k uniform from 0 to `most`, at rest."""
    n = bodies.x.shape[0]
    order_key, height_key, shift_key = jax.random.split(key, 3)
    storey = jax.random.permutation(order_key, jnp.arange(n, dtype=jnp.int32))
    height = jax.random.randint(height_key, (), 0, most + 1, jnp.int32)
    stacked = (storey < height) & (height > 1)
    foot = jnp.sum(jnp.where(storey == 0, bodies.x, 0.0))
    shift = 0.2 * jax.random.uniform(shift_key, (n,), minval=-1.0)
    return Bodies(
        x=jnp.where(stacked, foot + shift, bodies.x),
        y=jnp.where(stacked, 0.5 + storey.astype(jnp.float32), bodies.y),
        angle=bodies.angle,
        velocity=bodies.velocity._replace(x=jnp.where(stacked, 0.0, bodies.velocity.x)),
    )
