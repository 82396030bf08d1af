"""Scenes: drawings of an environment, as data. Nothing here draws; `pairvdn.viewing` does.

Coordinates are the environment's own, x to the right and y UP; `bounds` is the visible area. All
arrays have fixed shapes, so one `jax.vmap` gives the scenes of a whole episode.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32


class Rectangles(eqx.Module):
    """`k` filled rectangles, possibly turned, counter-clockwise, about their centres."""

    centre: Float[Array, "k 2"]
    size: Float[Array, "k 2"]
    angle: Float[Array, " k"]  # radians
    colour: Float[Array, "k 3"]  # red, green, blue from 0 to 1
    agent: Int32[Array, " k"]  # index of the agent, or -1


class Circles(eqx.Module):
    """`k` filled circles."""

    centre: Float[Array, "k 2"]
    radius: Float[Array, " k"]
    colour: Float[Array, "k 3"]
    agent: Int32[Array, " k"]


class Lines(eqx.Module):
    """`k` straight lines of hairline width."""

    start: Float[Array, "k 2"]
    end: Float[Array, "k 2"]
    colour: Float[Array, "k 3"]


class Scene(eqx.Module):
    """Shapes in the order in which they are drawn: rectangles, circles, lines."""

    bounds: Float[Array, "4"]  # left, bottom, right, top
    rectangles: Rectangles | None = None
    circles: Circles | None = None
    lines: Lines | None = None


def row_of_dots(num_agents: int) -> Scene:
    """A dot for each agent, side by side, where nothing is known about their looks."""
    centre = jnp.stack([jnp.arange(num_agents, dtype=jnp.float32), jnp.zeros(num_agents)], axis=1)
    return Scene(
        bounds=jnp.array([-1.0, -1.0, num_agents, 1.0]),
        circles=Circles(
            centre,
            jnp.full((num_agents,), 0.4),
            jnp.tile(jnp.array([[0.35, 0.35, 0.85]]), (num_agents, 1)),
            jnp.arange(num_agents, dtype=jnp.int32),
        ),
    )
