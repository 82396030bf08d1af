"""Sensor, the environment."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import same_cell, upright
from pairvdn.envs.scene import Scene
from pairvdn.envs.sensor.observe import OBSERVATION_NAMES, WAYS, global_state, observe
from pairvdn.envs.sensor.reward import team_reward
from pairvdn.envs.sensor.rules import (
    NOTHING,
    NUM_TARGETS,
    WINDOW,
    allowed,
    detected,
    move_targets,
    place_targets,
    scanned_cells,
    sensors,
)
from pairvdn.envs.sensor.scene import scene
from pairvdn.envs.sensor.types import SensorState
from pairvdn.types import PRNGKey, TimeStep


class Sensor(Environment[SensorState]):
    """Sensors on a grid: two or more must scan a target to detect it, and targets move.

    Map: 5 x 9 cells. 15 sensors stand at those whose row and column are even. 3 targets start at
    other cells, never two at one, all choices equally likely.

    Actions (9): scan one of the 8 neighbouring cells, row by row, or (8) nothing. A scan outside
    the map is masked and acts as nothing.

    Then every target in turn draws a displacement uniformly from {-2..2} x {-2..2}, clipped to the
    map, again until its new cell is free of sensors and targets; its own counts as taken.

    Observation (11): the 3 x 3 cells around the sensor, row by row (1 a target, 0 none, -1
    outside), its row and its column. State (6): row and column of every target.

    Reward: -1 for every scan, +3 for every target that two or more sensors scan in one step; each
    agent gets 1/n of it. The trap is that nobody scans. At most 30 in an episode: two sensors for
    each target, always.

    End: truncated after `max_steps`, 10; it never terminates.
    """

    _max_steps: int = eqx.field(static=True)

    def __init__(self, max_steps: int = 10) -> None:
        self._max_steps = whole_number("max_steps", max_steps, 1)

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return "sensor"

    @property
    def num_agents(self) -> int:
        """The sensors."""
        return len(sensors())

    @property
    def num_actions(self) -> int:
        """Scan one of 8 cells, or nothing."""
        return NOTHING + 1

    @property
    def observation_size(self) -> int:
        """The cells around, and the place."""
        return len(WINDOW) + 2

    @property
    def state_size(self) -> int:
        """The places of the targets."""
        return 2 * NUM_TARGETS

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self._max_steps

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action does, in a word."""
        return (*WAYS, "nothing")

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is."""
        return OBSERVATION_NAMES

    def reset(self, key: PRNGKey) -> tuple[SensorState, TimeStep]:
        """Place the targets."""
        state = SensorState(place_targets(key), jnp.asarray(sensors()), jnp.int32(0))
        return state, self._time_step(state, jnp.float32(0.0), jnp.asarray(False))

    def step(
        self, key: PRNGKey, state: SensorState, actions: Int32[Array, " n"]
    ) -> tuple[SensorState, TimeStep]:
        """Scan, pay, then let the targets move."""
        scanned = scanned_cells(actions)
        scans = ~same_cell(scanned, jnp.asarray(sensors()))
        reward = team_reward(scans, detected(scanned, state.targets))
        state = SensorState(move_targets(key, state.targets), scanned, state.steps + 1)
        return state, self._time_step(state, reward, state.steps >= self.max_steps)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where each sensor is: x to the right, y up."""
        del state
        return upright(observation[:, -2:])

    def scene(self, state: SensorState) -> Scene:
        """Sensors, targets, and what was scanned last."""
        return scene(state)

    def _time_step(
        self, state: SensorState, reward: Float[Array, ""], truncated: Bool[Array, ""]
    ) -> TimeStep:
        n = self.num_agents
        return TimeStep(
            observation=observe(state),
            state=global_state(state),
            mask=allowed(),
            reward=reward,
            agent_rewards=jnp.broadcast_to(reward / n, (n,)),
            terminated=jnp.asarray(False),
            truncated=truncated,
        )
