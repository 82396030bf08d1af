"""Predator-prey, the environment."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import number_within, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import upright
from pairvdn.envs.predator_prey.observe import (
    NUMBERS_EACH,
    OBSERVATION_NAMES,
    OBSERVATION_SIZE,
    global_state,
    observe,
    predator_cells,
)
from pairvdn.envs.predator_prey.reward import team_reward
from pairvdn.envs.predator_prey.rules import (
    CATCH,
    NUM_ACTIONS,
    STAY,
    allowed,
    hunt,
    move_predators,
    start,
)
from pairvdn.envs.predator_prey.scene import scene
from pairvdn.envs.predator_prey.types import PredatorPreyState
from pairvdn.envs.scene import Scene
from pairvdn.types import PRNGKey, TimeStep


class PredatorPrey(Environment[PredatorPreyState]):
    """Predators hunt on a grid: two must catch a prey at once, one that tries alone is punished.

    Map: `size` x `size` cells, 10, with walls around. Start: `num_predators`, 8, and `num_prey`, 8,
    each at a cell of its own, all choices equally likely.

    Actions (6): up, down, left, right, stay, catch. Masked, and acting as stay, are moves into
    walls and catches with no prey next to the predator (next to: in one of the 4 cells around).

    Predators move first, in random order, and stay where they are if anyone is in the way. Then
    each prey in random order: if two or more predators next to it catch, it is captured, and it and
    those predators leave; if not, it moves to a uniformly chosen free cell next to it, if there is
    one. A predator that left can only stay.

    Observation (50): the 5 x 5 cells around the predator, row by row, first a plane of predators,
    itself among them, then one of prey; zeros for one that left. State (3 each): row and column
    from 0 to 1 and a 1 for every predator and prey that is there, zeros for one that left.

    Reward: 10 for every capture, and `penalty`, at most 0, for every prey that exactly one predator
    tried to catch; each agent gets 1/n of it. At most 40 with 8 predators. The lower the penalty,
    the sooner methods whose value is monotonic in each agent's give up and never catch.

    End: terminated when no prey or no predators are left, truncated after `max_steps`, 200.
    """

    penalty: float = eqx.field(static=True)
    num_prey: int = eqx.field(static=True)
    size: int = eqx.field(static=True)
    _num_predators: int = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)

    def __init__(
        self,
        penalty: float | int = -1.0,
        num_predators: int = 8,
        num_prey: int = 8,
        size: int = 10,
        max_steps: int = 200,
    ) -> None:
        self.penalty = number_within("penalty", penalty, -jnp.inf, 0)
        self._num_predators = whole_number("num_predators", num_predators, 2)
        self.num_prey = whole_number("num_prey", num_prey, 1)
        self.size = whole_number("size", size, 2)
        self._max_steps = whole_number("max_steps", max_steps, 1)
        if num_predators + num_prey > size * size:
            raise ValueError(
                f"num_predators + num_prey must be at most size * size = {size * size}, the number "
                f"of cells; it is {num_predators + num_prey}."
            )

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return "predator-prey"

    @property
    def num_agents(self) -> int:
        """The predators."""
        return self._num_predators

    @property
    def num_actions(self) -> int:
        """Up, down, left, right, stay, catch."""
        return NUM_ACTIONS

    @property
    def observation_size(self) -> int:
        """Two planes of 5 x 5 cells."""
        return OBSERVATION_SIZE

    @property
    def state_size(self) -> int:
        """Three numbers of every predator and prey."""
        return NUMBERS_EACH * (self.num_agents + self.num_prey)

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self._max_steps

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action does, in a word."""
        return ("up", "down", "left", "right", "stay", "catch")

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is."""
        return OBSERVATION_NAMES

    def reset(self, key: PRNGKey) -> tuple[PredatorPreyState, TimeStep]:
        """Everyone at a random cell."""
        state = start(key, self.num_agents, self.num_prey, self.size)
        return state, self._time_step(state, jnp.float32(0.0))

    def step(
        self, key: PRNGKey, state: PredatorPreyState, actions: Int32[Array, " n"]
    ) -> tuple[PredatorPreyState, TimeStep]:
        """Predators move, then it is the prey's turn."""
        move_key, hunt_key = jax.random.split(key)
        may = jnp.take_along_axis(allowed(state, self.size), actions[:, None], axis=1)[:, 0]
        actions = jnp.where(may, actions, STAY)
        moved = PredatorPreyState(
            predators=move_predators(move_key, state, actions),
            hunting=state.hunting,
            prey=state.prey,
            alive=state.alive,
            steps=state.steps + 1,
        )
        state, happened = hunt(hunt_key, moved, actions == CATCH, self.size)
        return state, self._time_step(state, team_reward(happened, self.penalty))

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where each predator is, x to the right, y up; those who left are together, far away."""
        del observation
        return upright(predator_cells(state, self.num_agents, self.size))

    def scene(self, state: PredatorPreyState) -> Scene:
        """Predators and prey on the grid."""
        return scene(state, self.size)

    def _time_step(self, state: PredatorPreyState, reward: Float[Array, ""]) -> TimeStep:
        n = self.num_agents
        over: Bool[Array, ""] = ~(jnp.any(state.hunting) & jnp.any(state.alive))
        return TimeStep(
            observation=observe(state),
            state=global_state(state, self.size),
            mask=allowed(state, self.size),
            reward=reward,
            agent_rewards=jnp.broadcast_to(reward / n, (n,)),
            terminated=over,
            truncated=state.steps >= self.max_steps,
        )
