"""Aloha, the environment."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_one_of, whole_number
from pairvdn.envs.aloha.observe import global_state, observe
from pairvdn.envs.aloha.reward import agent_rewards
from pairvdn.envs.aloha.rules import GRAPHS, SEND, STATIONS, arrive, jammed, serve
from pairvdn.envs.aloha.scene import places, scene
from pairvdn.envs.aloha.types import AlohaState
from pairvdn.envs.base import Environment
from pairvdn.envs.scene import Scene
from pairvdn.types import PRNGKey, TimeStep


class Aloha(Environment[AlohaState]):
    """Ten stations send messages and must not do so at the same time as a neighbour.

    Who is whose neighbour, by `graph`: `"original"` is the line 0-1-...-9 with rungs from i to i +
    5 for i = 0..4, `"grid"` the same without 4-5, `"ring"` a plain ring.

    Start: one message in each queue.

    Actions (2): idle, send; both are always allowed. Who sends with an empty queue sends nothing
    but jams its neighbours all the same.

    A station that sends with a message waiting delivers it if none of its neighbours chose to send.
    Then each queue grows by one message with probability 0.6, up to 5.

    Observation (1): the station's own queue, 0 to 5. State (10): all queues.

    Reward of a station: 0.1 for a message delivered, -10 for one that was jammed. The team's reward
    is their sum. The trap is that nobody sends.

    End: truncated after `max_steps`, 20; it never terminates.
    """

    graph: str = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)

    def __init__(self, graph: str = "original", max_steps: int = 20) -> None:
        require_one_of(GRAPHS, graph=graph)
        self.graph = graph
        self._max_steps = whole_number("max_steps", max_steps, 1)

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return "aloha"

    @property
    def num_agents(self) -> int:
        """The stations."""
        return STATIONS

    @property
    def num_actions(self) -> int:
        """Idle, send."""
        return 2

    @property
    def observation_size(self) -> int:
        """The own queue."""
        return 1

    @property
    def state_size(self) -> int:
        """All queues."""
        return STATIONS

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self._max_steps

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action does, in a word."""
        return ("idle", "send")

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is."""
        return ("queue",)

    def reset(self, key: PRNGKey) -> tuple[AlohaState, TimeStep]:
        """Every episode starts alike."""
        del key
        state = AlohaState(jnp.ones((STATIONS,), jnp.int32), jnp.int32(0))
        return state, self._time_step(state, jnp.zeros(STATIONS), jnp.asarray(False))

    def step(
        self, key: PRNGKey, state: AlohaState, actions: Int32[Array, " n"]
    ) -> tuple[AlohaState, TimeStep]:
        """Send, pay, then let new messages come."""
        sending = actions == SEND
        sent, is_jammed = sending & (state.queues > 0), jammed(sending, self.graph)
        queues = arrive(key, serve(state.queues, sent & ~is_jammed))
        state = AlohaState(queues, state.steps + 1)
        rewards = agent_rewards(sent, is_jammed)
        return state, self._time_step(state, rewards, state.steps >= self.max_steps)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where the stations stand, always the same."""
        del observation, state
        return jnp.asarray(places(self.graph))

    def scene(self, state: AlohaState) -> Scene:
        """Stations by the length of their queues, and who jams whom."""
        return scene(state, self.graph)

    def _time_step(
        self, state: AlohaState, rewards: Float[Array, " n"], truncated: Bool[Array, ""]
    ) -> TimeStep:
        return TimeStep(
            observation=observe(state),
            state=global_state(state),
            mask=jnp.ones((self.num_agents, self.num_actions), bool),
            reward=jnp.sum(rewards),
            agent_rewards=rewards,
            terminated=jnp.asarray(False),
            truncated=truncated,
        )
