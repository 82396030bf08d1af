"""Disperse: agents must go to a hospital in need, which is known only to the agents there."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.scene import Circles, Rectangles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

NUM_AGENTS, NUM_HOSPITALS = 12, 4
LEAST, MOST = 6, 12  # agents that a hospital in need needs
# The hospitals are the corners of a square, in the order of reading.
CORNERS = np.array([(-1, 1), (1, 1), (-1, -1), (1, -1)], np.float32)
CALM, NEEDY = (0.85, 0.85, 0.85), (0.9, 0.35, 0.3)  # colours of hospitals


class DisperseState(eqx.Module):
    """Where each agent is, the hospital in need, and how many it needs."""

    hospitals: Int32[Array, " n"]
    needy: Int32[Array, ""]
    needed: Int32[Array, ""]  # 0 at the start: nobody is needed anywhere
    steps: Int32[Array, ""]


def together(hospitals: Int32[Array, " n"]) -> Bool[Array, "n n"]:
    """The pairs of agents, each with itself included, that are at the same hospital."""
    return hospitals[:, None] == hospitals[None]


def observe(state: DisperseState) -> Float[Array, "n 17"]:
    """The hospital one-hot, the number needed there, and the agents that are there."""
    where = state.hospitals[:, None] == jnp.arange(NUM_HOSPITALS, dtype=jnp.int32)[None]
    needed_here = jnp.where(state.hospitals == state.needy, state.needed, 0)[:, None]
    parts = [where.astype(jnp.int32), needed_here, together(state.hospitals).astype(jnp.int32)]
    return jnp.concatenate(parts, axis=1).astype(jnp.float32)


class Disperse(Environment[DisperseState]):
    """Agents must go where they are needed, but the need is known only to the agents there.

    Start: each of 12 agents is at a random one of 4 hospitals; nobody is needed anywhere.

    Actions (4): go to a hospital, from any other in one step. All are always allowed.

    Step: the agents move, and the hospital in need counts them. Then another need arises for the
    next step: a random hospital needs 6 to 12 agents, all numbers equally likely, and the others
    need none.

    Observation (17): the hospital one-hot, the number needed there, and for each agent a 1 if it
    is there too (1 for the agent itself). State (204): all observations, agent by agent.

    Reward: -1/12 for each missing agent of the hospital in need. Each agent gets 1/n of it. The
    maximum is 0.

    End: truncated after `max_steps`; never terminated.

    Args:
        max_steps: Steps after which an episode is truncated.
    """

    name = "disperse"
    spec = EnvSpec(
        num_agents=NUM_AGENTS,
        num_actions=NUM_HOSPITALS,
        observation_size=NUM_HOSPITALS + 1 + NUM_AGENTS,
        state_size=NUM_AGENTS * (NUM_HOSPITALS + 1 + NUM_AGENTS),
        has_positions=True,
    )
    action_names = tuple(f"to hospital {one}" for one in range(NUM_HOSPITALS))
    observation_names = (
        *(f"at hospital {one}" for one in range(NUM_HOSPITALS)),
        "needed here",
        *(f"with agent {one}" for one in range(NUM_AGENTS)),
    )
    max_steps: int = eqx.field(static=True)

    def __init__(self, max_steps: int = 10) -> None:
        self.max_steps = whole_number("max_steps", max_steps, 1)

    def reset(self, key: PRNGKey) -> tuple[DisperseState, TimeStep]:
        """Each agent at a random hospital."""
        hospitals = jax.random.randint(key, (NUM_AGENTS,), 0, NUM_HOSPITALS, jnp.int32)
        state = DisperseState(hospitals, jnp.int32(0), jnp.int32(0), jnp.int32(0))
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: DisperseState, actions: Int32[Array, " n"]
    ) -> tuple[DisperseState, TimeStep]:
        """Move and pay, then draw the next need."""
        actions = self.as_actions(actions)
        present = jnp.sum(actions == state.needy, dtype=jnp.int32)
        reward = jnp.minimum(present - state.needed, 0).astype(jnp.float32) / NUM_AGENTS
        where_key, many_key = jax.random.split(key)
        needy = jax.random.randint(where_key, (), 0, NUM_HOSPITALS, jnp.int32)
        needed = jax.random.randint(many_key, (), LEAST, MOST + 1, jnp.int32)
        after = DisperseState(actions, needy, needed, state.steps + 1)
        return after, self._time_step(after, reward)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The corner of each agent's hospital."""
        del state
        return observation[:, :NUM_HOSPITALS] @ jnp.asarray(CORNERS)

    def scene(self, state: DisperseState) -> Scene:
        """Hospitals, the redder the more they need, and the agents inside them in a circle."""
        turn = 2 * np.pi * np.arange(NUM_AGENTS) / NUM_AGENTS
        offsets = 0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
        is_needy = jnp.arange(NUM_HOSPITALS, dtype=jnp.int32) == state.needy
        need = jnp.where(is_needy, state.needed.astype(jnp.float32) / MOST, 0.0)[:, None]
        return Scene(
            bounds=jnp.array([-2.0, -2.0, 2.0, 2.0]),
            rectangles=Rectangles(
                centre=jnp.asarray(CORNERS),
                size=jnp.full((NUM_HOSPITALS, 2), 1.6),
                angle=jnp.zeros(NUM_HOSPITALS),
                colour=(1 - need) * jnp.array([CALM]) + need * jnp.array([NEEDY]),
                agent=jnp.full((NUM_HOSPITALS,), -1, jnp.int32),
            ),
            circles=Circles(
                centre=jnp.asarray(CORNERS)[state.hospitals] + offsets,
                radius=jnp.full((NUM_AGENTS,), 0.12),
                colour=jnp.tile(jnp.array([[0.35, 0.45, 0.75]]), (NUM_AGENTS, 1)),
                agent=jnp.arange(NUM_AGENTS, dtype=jnp.int32),
            ),
        )

    def _time_step(self, state: DisperseState, reward: Float[Array, ""] | None = None) -> TimeStep:
        observation = observe(state)
        return self.time_step(
            observation=observation,
            state=observation.reshape(-1),
            rewards=reward,
            truncated=state.steps >= self.max_steps,
        )
