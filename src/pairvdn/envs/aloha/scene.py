"""What Aloha looks like, as data, and where its stations stand."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pairvdn.envs.aloha.rules import GRAPHS, LONGEST, STATIONS
from pairvdn.envs.aloha.types import AlohaState
from pairvdn.envs.scene import Circles, Lines, Scene


def places(graph: str) -> Float[np.ndarray, "n 2"]:
    """On a circle for the ring, else in two rows of five, one under the other."""
    station = np.arange(STATIONS)
    if graph == "ring":
        turn = 2 * np.pi * station / STATIONS
        return np.stack([np.sin(turn), np.cos(turn)], axis=1).astype(np.float32) * 2
    return np.stack([station % 5 - 2, 0.5 - station // 5], axis=1).astype(np.float32)


def scene(state: AlohaState, graph: str) -> Scene:
    """Stations, the redder the longer their queues, and lines between those that jam."""
    where = places(graph)
    first, second = np.array(GRAPHS[graph]).T
    load = state.queues.astype(jnp.float32)[:, None] / LONGEST
    colour = (1 - load) * jnp.array([[0.85, 0.85, 0.85]]) + load * jnp.array([[0.85, 0.2, 0.2]])
    return Scene(
        bounds=jnp.array([-2.6, -2.6, 2.6, 2.6]),
        circles=Circles(
            centre=jnp.asarray(where),
            radius=jnp.full((STATIONS,), 0.3),
            colour=colour,
            agent=jnp.arange(STATIONS, dtype=jnp.int32),
        ),
        lines=Lines(
            start=jnp.asarray(where[first]),
            end=jnp.asarray(where[second]),
            colour=jnp.full((len(first), 3), 0.6),
        ),
    )
