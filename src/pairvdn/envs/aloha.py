"""Aloha: stations that send messages and jam their neighbours."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_one_of, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.scene import Circles, Lines, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

STATIONS = 10
LONGEST = 5  # messages in a queue
ARRIVAL = 0.6  # probability of a new message at a station in a step
IDLE, SEND = range(2)
DELIVERY, COLLISION = 0.1, -10.0  # rewards

_LINE = tuple((i, i + 1) for i in range(STATIONS - 1))
_RUNGS = tuple((i, i + 5) for i in range(5))
GRAPHS: dict[str, tuple[tuple[int, int], ...]] = {
    "original": _LINE + _RUNGS,
    "grid": tuple(edge for edge in _LINE if edge != (4, 5)) + _RUNGS,
    "ring": (*_LINE, (STATIONS - 1, 0)),
}


class AlohaState(eqx.Module):
    """The number of messages waiting at each station."""

    queues: Int32[Array, " n"]
    steps: Int32[Array, ""]


def neighbours(graph: str) -> Bool[np.ndarray, "n n"]:
    """The pairs of stations that jam each other."""
    table = np.zeros((STATIONS, STATIONS), bool)
    first, second = np.array(GRAPHS[graph]).T
    table[first, second] = table[second, first] = True
    return table


def places(graph: str) -> Float[np.ndarray, "n 2"]:
    """On a circle for the ring, else in two rows of five, one under the other."""
    station = np.arange(STATIONS)
    if graph == "ring":
        turn = 2 * np.pi * station / STATIONS
        return np.stack([np.sin(turn), np.cos(turn)], axis=1).astype(np.float32) * 2
    return np.stack([station % 5 - 2, 0.5 - station // 5], axis=1).astype(np.float32)


class Aloha(Environment[AlohaState]):
    """Ten stations send messages; two neighbours that send in the same step jam each other.

    Start: one message in each queue.

    Actions (2): idle, send. Both are always allowed. A station that sends with an empty queue
    delivers nothing but still jams its neighbours.

    Step: a station that sends delivers a waiting message if no neighbour sends. A jammed message
    stays in the queue. Then each queue grows by one message with probability 0.6, up to 5.

    Observation (1): the station's own queue, 0 to 5. State (10): all queues.

    Reward of a station: 0.1 for a delivered message, -10 for a jammed one. The team's reward is the
    sum. The trap is that no station sends.

    End: truncated after `max_steps`; never terminated.

    Args:
        graph: The neighbours: `original` is the line 0-1-...-9 with rungs from i to i + 5 for
            i = 0..4, `grid` the same without 4-5, `ring` a plain ring.
        max_steps: Steps after which an episode is truncated.
    """

    name = "aloha"
    spec = EnvSpec(
        num_agents=STATIONS,
        num_actions=2,
        observation_size=1,
        state_size=STATIONS,
        has_positions=True,
    )
    action_names = ("idle", "send")
    observation_names = ("queue",)
    graph: str = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __init__(
        self, graph: Literal["original", "grid", "ring"] = "original", max_steps: int = 20
    ) -> None:
        require_one_of(GRAPHS, graph=graph)
        self.graph = graph
        self.max_steps = whole_number("max_steps", max_steps, 1)

    def reset(self, key: PRNGKey) -> tuple[AlohaState, TimeStep]:
        """Every episode starts alike."""
        del key
        state = AlohaState(jnp.ones((STATIONS,), jnp.int32), jnp.int32(0))
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: AlohaState, actions: Int32[Array, " n"]
    ) -> tuple[AlohaState, TimeStep]:
        """Send and pay, then new messages arrive."""
        actions = self.as_actions(actions, no_op=None)
        sending = actions == SEND
        jammed = jnp.any(jnp.asarray(neighbours(self.graph)) & sending[None], axis=1)
        sent = sending & (state.queues > 0)
        queues = state.queues - (sent & ~jammed).astype(jnp.int32)
        arrivals = jax.random.bernoulli(key, ARRIVAL, queues.shape).astype(jnp.int32)
        state = AlohaState(jnp.minimum(queues + arrivals, LONGEST), state.steps + 1)
        rewards = jnp.where(sent, jnp.where(jammed, COLLISION, DELIVERY), 0.0)
        return state, self._time_step(state, rewards)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The fixed positions of the stations."""
        del observation, state
        return jnp.asarray(places(self.graph))

    def scene(self, state: AlohaState) -> Scene:
        """Stations, the redder the longer their queues, and lines between those that jam."""
        where = places(self.graph)
        first, second = np.array(GRAPHS[self.graph]).T
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

    def _time_step(self, state: AlohaState, rewards: Float[Array, " n"] | None = None) -> TimeStep:
        queues = state.queues.astype(jnp.float32)
        return self.time_step(
            observation=queues[:, None],
            state=queues,
            rewards=rewards,
            truncated=state.steps >= self.max_steps,
        )
