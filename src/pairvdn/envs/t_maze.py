"""Team T-maze: a cue at the start, and a turn at the end that all agents must take together."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

from pairvdn.checks import whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.scene import Circles, Rectangles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

GO_ON, LEFT, RIGHT = range(3)
WON, LOST = 1.0, -1.0  # rewards
SIDE = np.array([0, -1, 1], np.int32)  # of every action


class TMazeState(eqx.Module):
    """The cued side (-1 left, 1 right), and, for scenes, the actions of the last step."""

    cue: Int32[Array, ""]
    turned: Int32[Array, " n"]
    steps: Int32[Array, ""]


class TMaze(Environment[TMazeState]):
    """A corridor with a cue at its start: at the junction at its end, all must turn the cued way.

    Start: the cue is left or right, each with probability 1/2.

    Actions (3): go on, left, right. In the corridor the turns are masked and act as going on.

    Step: in the corridor all agents walk one cell. At the junction going on means waiting, which is
    possible for `waiting` steps. The episode ends when the first agent turns, or after the last of
    these steps.

    Observation (2): the cue (-1 left, 1 right; 0 in all observations but the first), and the cells
    to the junction divided by `corridor`. State (2): the same.

    Reward: 1 if all agents turn the cued way in the same step, -1 if the episode ends otherwise.
    Each agent gets 1/n of it. Without memory no policy exceeds a mean of 0; with it the maximum is
    1.

    End: terminated at the first turn, and after `corridor` + `waiting` + 1 steps.

    Args:
        num_agents: Number of agents n.
        corridor: Cells from the start to the junction, so steps for which the cue is remembered.
        waiting: Steps that agents may wait at the junction; with at least 1 they must also agree
            when to turn.
    """

    name = "t-maze"
    action_names = ("go on", "left", "right")
    observation_names = ("cue", "distance")
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    corridor: int = eqx.field(static=True)

    def __init__(self, num_agents: int = 2, corridor: int = 5, waiting: int = 0) -> None:
        self.spec = EnvSpec(
            num_agents=whole_number("num_agents", num_agents, 1),
            num_actions=len(SIDE),
            observation_size=2,
            state_size=2,
            has_positions=True,
        )
        self.corridor = whole_number("corridor", corridor, 1)
        self.max_steps = self.corridor + whole_number("waiting", waiting, 0) + 1

    def reset(self, key: PRNGKey) -> tuple[TMazeState, TimeStep]:
        """Draw the cue."""
        cue = jnp.where(jax.random.bernoulli(key), 1, -1).astype(jnp.int32)
        state = TMazeState(cue, jnp.zeros(self.num_agents, jnp.int32), jnp.int32(0))
        return state, self._time_step(state, jnp.float32(0), jnp.bool_(False))

    def step(
        self, key: PRNGKey, state: TMazeState, actions: Int32[Array, " n"]
    ) -> tuple[TMazeState, TimeStep]:
        """Walk, or wait or turn at the junction."""
        del key
        actions = self.as_actions(actions)
        at_junction = state.steps >= self.corridor
        turned = jnp.where(at_junction, jnp.asarray(SIDE)[actions], 0)
        after = TMazeState(state.cue, turned, state.steps + 1)
        over = jnp.any(turned != 0) | (after.steps >= self.max_steps)
        reward = jnp.where(jnp.all(turned == state.cue), WON, LOST)
        return after, self._time_step(after, jnp.where(over, reward, 0.0), over)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Side by side, as far below the junction as they are from it."""
        del state
        return jnp.stack([self._across(), -self.corridor * observation[:, 1]], axis=1)

    def scene(self, state: TMazeState) -> Scene:
        """The corridor, the two arms with the cued one in green, and the agents."""
        wide = float(self.num_agents)
        left, green, grey = state.cue < 0, jnp.array([0.55, 0.8, 0.55]), jnp.full(3, 0.85)
        above = jnp.minimum(state.steps - self.corridor, 0).astype(jnp.float32)
        sideways = self._across() + 1.5 * wide * state.turned.astype(jnp.float32)
        return Scene(
            bounds=jnp.array([-2.5 * wide, -self.corridor - 1.0, 2.5 * wide, 2.0]),
            rectangles=Rectangles(
                centre=jnp.array(
                    [[0.0, -self.corridor / 2], [-1.5 * wide, 0.0], [1.5 * wide, 0.0]]
                ),
                size=jnp.array([[wide, self.corridor + 1.0], [2 * wide, 1.0], [2 * wide, 1.0]]),
                angle=jnp.zeros(3),
                colour=jnp.stack(
                    [grey, jnp.where(left, green, grey), jnp.where(left, grey, green)]
                ),
                agent=jnp.full(3, -1, jnp.int32),
            ),
            circles=Circles(
                centre=jnp.stack([sideways, jnp.full(self.num_agents, above)], axis=1),
                radius=jnp.full(self.num_agents, 0.35),
                colour=jnp.full((self.num_agents, 3), 0.3),
                agent=jnp.arange(self.num_agents, dtype=jnp.int32),
            ),
        )

    def _across(self) -> Float[Array, " n"]:
        return jnp.arange(self.num_agents, dtype=jnp.float32) - (self.num_agents - 1) / 2

    def _time_step(
        self, state: TMazeState, reward: Float[Array, ""], terminated: Array
    ) -> TimeStep:
        at_junction = state.steps >= self.corridor
        cue = jnp.where(state.steps == 0, state.cue, 0).astype(jnp.float32)
        distance = jnp.maximum(self.corridor - state.steps, 0).astype(jnp.float32) / self.corridor
        seen = jnp.stack([cue, distance])
        mask = jnp.array([True, False, False]) | at_junction
        return self.time_step(
            observation=jnp.broadcast_to(seen, (self.num_agents, 2)),
            state=seen,
            mask=jnp.broadcast_to(mask, (self.num_agents, 3)),
            rewards=reward,
            terminated=terminated,
        )
