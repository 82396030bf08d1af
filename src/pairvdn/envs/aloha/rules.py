"""Who hears whom, and what becomes of the queues."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from pairvdn.types import PRNGKey

STATIONS = 10
LONGEST = 5  # messages in a queue
ARRIVAL = 0.6  # probability that a message comes to a station in a step
IDLE, SEND = range(2)

_LINE = tuple((i, i + 1) for i in range(STATIONS - 1))
_RUNGS = tuple((i, i + 5) for i in range(5))
GRAPHS: dict[str, tuple[tuple[int, int], ...]] = {
    "original": _LINE + _RUNGS,
    "grid": tuple(edge for edge in _LINE if edge != (4, 5)) + _RUNGS,
    "ring": (*_LINE, (STATIONS - 1, 0)),
}


def neighbours(graph: str) -> Bool[np.ndarray, "n n"]:
    """Which two stations jam each other."""
    table = np.zeros((STATIONS, STATIONS), bool)
    first, second = np.array(GRAPHS[graph]).T
    table[first, second] = table[second, first] = True
    return table


def jammed(sending: Bool[Array, " n"], graph: str) -> Bool[Array, " n"]:
    """Which stations have a neighbour that chose to send, be its queue empty or not."""
    return jnp.any(jnp.asarray(neighbours(graph)) & sending[None], axis=1)


def serve(queues: Int32[Array, " n"], delivered: Bool[Array, " n"]) -> Int32[Array, " n"]:
    """Queues without the messages that got through."""
    return queues - delivered.astype(jnp.int32)


def arrive(key: PRNGKey, queues: Int32[Array, " n"]) -> Int32[Array, " n"]:
    """Queues with what comes in; at a full one it is lost."""
    arrivals = jax.random.bernoulli(key, ARRIVAL, queues.shape)
    return jnp.minimum(queues + arrivals.astype(jnp.int32), LONGEST)
