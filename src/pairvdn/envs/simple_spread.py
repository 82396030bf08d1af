"""Simple Spread: agents in the plane must cover landmarks without bumping into each other.

The constants are those of mpe2's particle world. All computations use the precision of the state:
contacts are stiff, so two computations agree over an episode only in 64 bits.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import MOST_AGENTS, number_within, require_one_of, whole_number
from pairvdn.envs.base import Environment, TeamReward
from pairvdn.envs.scene import Circles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

TIME_STEP = 0.1
DAMPING = 0.25  # share of the velocity lost in a step
PUSH = 5.0  # force of an action
RADIUS = 0.15  # of an agent
CONTACT_FORCE = 100.0  # per length of overlap
CONTACT_MARGIN = 0.001  # length over which a contact sets in
DIRECTIONS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))  # nothing, left, right, down, up
MESSAGE = 2  # mpe2 observes two numbers from each other agent; here all are silent
LANDMARK_RADIUS = 0.05
AGENT_COLOUR, LANDMARK_COLOUR = (0.35, 0.35, 0.85), (0.25, 0.25, 0.25)


class SimpleSpreadState(eqx.Module):
    """Everything that the next step depends on; the landmarks stay where they are."""

    position: Float[Array, "n 2"]
    velocity: Float[Array, "n 2"]
    landmarks: Float[Array, "n 2"]
    steps: Int32[Array, ""]


def between(places: Float[Array, "n 2"]) -> tuple[Float[Array, "n n 2"], Float[Array, "n n"]]:
    """Difference and distance of all pairs; entry [i, j] points from j to i.

    A distance of 0, as of an agent to itself, is replaced by 1, so that dividing by it gives a
    force of 0, where mpe2 has NaN.
    """
    difference = places[:, None] - places[None]
    squared = jnp.sum(difference**2, axis=-1)
    return difference, jnp.sqrt(jnp.where(squared > 0, squared, 1.0))


def contact_forces(position: Float[Array, "n 2"]) -> Float[Array, "n 2"]:
    """The forces between agents: `c k log(1 + exp((2 r - d) / k))` for two at a distance d.

    A smooth form of `c max(0, 2 r - d)`, with c, k, r the force, the margin and the radius.
    """
    difference, distance = between(position)
    overlap = CONTACT_MARGIN * jax.nn.softplus((2 * RADIUS - distance) / CONTACT_MARGIN)
    return jnp.sum((CONTACT_FORCE * overlap / distance)[..., None] * difference, axis=1)


def collisions(position: Float[Array, "n 2"]) -> Bool[Array, "n n"]:
    """The pairs of different agents that overlap."""
    apart = ~jnp.eye(position.shape[0], dtype=bool)
    return apart & (jnp.sum((position[:, None] - position[None]) ** 2, axis=-1) < 4 * RADIUS**2)


def advance(
    position: Float[Array, "n 2"], velocity: Float[Array, "n 2"], actions: Int32[Array, " n"]
) -> tuple[Float[Array, "n 2"], Float[Array, "n 2"]]:
    """One step, with the velocity and the forces before the step."""
    directions = jnp.asarray(DIRECTIONS, position.dtype)[actions]
    force = PUSH * directions + contact_forces(position)
    return position + TIME_STEP * velocity, (1 - DAMPING) * velocity + TIME_STEP * force


def observe(state: SimpleSpreadState) -> Float[Array, "n o"]:
    """Velocity, position, relative landmarks and other agents, and the others' empty messages."""
    n, dtype = state.position.shape[0], state.position.dtype
    landmarks = state.landmarks[None] - state.position[:, None]
    agents = without_diagonal(state.position[None] - state.position[:, None])
    return jnp.concatenate(
        [
            state.velocity,
            state.position,
            landmarks.reshape(n, -1),
            agents.reshape(n, -1),
            jnp.zeros((n, MESSAGE * (n - 1)), dtype),
        ],
        axis=1,
    )


def observation_names(num_agents: int) -> tuple[str, ...]:
    """The name of each number of `observe`."""
    others = range(1, num_agents)
    things = [
        *("velocity", "place"),
        *(f"landmark {number}" for number in range(num_agents)),
        *(f"other agent {number}" for number in others),
        *(f"silence of other agent {number}" for number in others),
    ]
    return tuple(f"{thing}, {axis}" for thing in things for axis in "xy")


def without_diagonal(table: Float[Array, "n n k"]) -> Float[Array, "n n_minus_1 k"]:
    """The entries [i, j] with j ≠ i, in order, without a gather.

    In the flat table without its first entry, diagonal entries are n + 1 apart: they are the last
    column of a table of that width.
    """
    n, _, k = table.shape
    flat = table.reshape(n * n, k)[1:]
    return flat.reshape(n - 1, n + 1, k)[:, :-1].reshape(n, n - 1, k)


def nearest_agent(state: SimpleSpreadState) -> Float[Array, " n"]:
    """The distance of each landmark to its nearest agent."""
    to_agents = state.landmarks[:, None] - state.position[None]
    return jnp.sqrt(jnp.min(jnp.sum(to_agents**2, axis=-1), axis=1))


def agent_rewards(state: SimpleSpreadState, local_ratio: float) -> Float[Array, " n"]:
    """`(1 - l) G + l L_i` with the local ratio l.

    G is minus the sum over landmarks of the distance to the nearest agent, the same for all agents;
    L_i is minus the number of other agents that overlap agent i.
    """
    shared = -jnp.sum(nearest_agent(state))
    own = -jnp.sum(collisions(state.position), axis=1).astype(shared.dtype)
    return (1 - local_ratio) * shared + local_ratio * own


class SimpleSpread(Environment[SimpleSpreadState]):
    """Agents in the plane must cover all landmarks without bumping into each other.

    Matches `simple_spread_v3` of mpe2 with discrete actions, step by step.

    Start: n agents at rest and n landmarks, uniform in the square from -1 to 1.

    Actions (5): nothing, left, right, down, up. All are always allowed.

    Motion: a step lasts 0.1. An agent first moves with its velocity. The velocity then shrinks by a
    quarter and grows by 0.1 times the force. The force is 5 in the direction of the action, plus a
    push of 100 times the overlap from each agent closer than 0.3, smoothed over 0.001. Agents may
    leave the square.

    Observation (6n): own velocity and position; positions of the landmarks, then of the other
    agents, relative to the agent; 2(n - 1) zeros in place of mpe2's messages. State (6n²): all
    observations in a row.

    Reward of agent i: (1 - `local_ratio`) G + `local_ratio` L_i. G is minus the sum over landmarks
    of the distance to the nearest agent. L_i is minus the number of other agents that overlap agent
    i. The team's reward is the sum or the mean over agents. Published returns use several scales,
    so always name yours.

    End: truncated after `max_steps`; never terminated.

    Args:
        num_agents: Number of agents, and of landmarks.
        local_ratio: Weight of an agent's own reward, from 0 to 1; the rest is shared.
        max_steps: Steps after which an episode is truncated.
        team_reward: Whether the team's reward is the `sum` or the `mean` of the agents' rewards.
    """

    name = "simple-spread"
    action_names = ("nothing", "left", "right", "down", "up")
    seconds_per_step = TIME_STEP
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    local_ratio: float = eqx.field(static=True)
    team_reward: TeamReward = eqx.field(static=True)

    def __init__(
        self,
        num_agents: int = 3,
        local_ratio: float | int = 0.5,
        max_steps: int = 25,
        team_reward: TeamReward = "sum",
    ) -> None:
        n = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
        size = len(observation_names(n))
        self.spec = EnvSpec(
            num_agents=n,
            num_actions=len(DIRECTIONS),
            observation_size=size,
            state_size=n * size,
            has_positions=True,
        )
        self.max_steps = whole_number("max_steps", max_steps, 1)
        self.local_ratio = number_within("local_ratio", local_ratio, 0, 1)
        require_one_of(("sum", "mean"), team_reward=team_reward)
        self.team_reward = team_reward

    @property
    def observation_names(self) -> tuple[str, ...]:
        """A few words for each number that an agent observes."""
        return observation_names(self.num_agents)

    def reset(self, key: PRNGKey) -> tuple[SimpleSpreadState, TimeStep]:
        """Everything uniform in the square, at rest."""
        position, landmarks = jax.random.uniform(key, (2, self.num_agents, 2), minval=-1.0)
        velocity = jnp.zeros_like(position)
        state = SimpleSpreadState(position, velocity, landmarks, jnp.int32(0))
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: SimpleSpreadState, actions: Int32[Array, " n"]
    ) -> tuple[SimpleSpreadState, TimeStep]:
        """Act once. Nothing is random, so `key` is not used."""
        actions = self.as_actions(actions)
        del key
        position, velocity = advance(state.position, state.velocity, actions)
        state = SimpleSpreadState(position, velocity, state.landmarks, state.steps + 1)
        return state, self._time_step(state, agent_rewards(state, self.local_ratio))

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The observed positions."""
        del state
        return observation[:, 2:4]

    @property
    def measure_meanings(self) -> dict[str, str]:
        """A sentence for each measure."""
        return {
            "covered": "Number of landmarks whose centre is within an agent's circle.",
            "distance": "Mean distance of a landmark to its nearest agent.",
            "overlaps": "Number of pairs of agents that touch.",
        }

    def measures(self, state: SimpleSpreadState) -> dict[str, Float[Array, ""]]:
        """Covered landmarks, their mean distance to an agent, and overlapping pairs.

        A landmark is covered if its centre is within an agent's circle.
        """
        distance = nearest_agent(state)
        return {
            "covered": jnp.sum(distance < RADIUS).astype(jnp.float32),
            "distance": jnp.mean(distance),
            "overlaps": jnp.sum(collisions(state.position)).astype(jnp.float32) / 2,
        }

    def scene(self, state: SimpleSpreadState) -> Scene:
        """Agents, and on top of them the landmarks, so that covered ones stay visible."""
        n = state.position.shape[0]
        # Agents may leave the square, so the window grows with them.
        half = jnp.maximum(1.0, jnp.max(jnp.abs(state.position))) + 2 * RADIUS
        agents = jnp.arange(n, dtype=jnp.int32)
        return Scene(
            bounds=jnp.stack([-half, -half, half, half]),
            circles=Circles(
                centre=jnp.concatenate([state.position, state.landmarks]),
                radius=jnp.repeat(jnp.array([RADIUS, LANDMARK_RADIUS]), n),
                colour=jnp.repeat(jnp.array([AGENT_COLOUR, LANDMARK_COLOUR]), n, axis=0),
                agent=jnp.concatenate([agents, jnp.full_like(agents, -1)]),
            ),
        )

    def _time_step(
        self, state: SimpleSpreadState, rewards: Float[Array, " n"] | None = None
    ) -> TimeStep:
        observation = observe(state)
        return self.time_step(
            observation=observation,
            state=observation.reshape(-1),
            rewards=rewards,
            truncated=state.steps >= self.max_steps,
        )
