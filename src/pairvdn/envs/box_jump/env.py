"""Box Jump, the environment."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.base import Environment
from pairvdn.envs.box_jump.batching import batch_last
from pairvdn.envs.box_jump.observe import (
    OWN_NUMBERS,
    SCALINGS,
    can_jump,
    observe,
)
from pairvdn.envs.box_jump.once import Once, once_by
from pairvdn.envs.box_jump.physics import advance, drive, fell_off, no_memory
from pairvdn.envs.box_jump.presets import Parameters, parameters_from
from pairvdn.envs.box_jump.reward import agent_rewards, count_best
from pairvdn.envs.box_jump.scene import scene
from pairvdn.envs.box_jump.types import Bodies, BoxJumpState, Motion
from pairvdn.envs.scene import Scene
from pairvdn.types import PRNGKey, TimeStep

CHUNK = 128


class BoxJump(Environment[BoxJumpState]):
    """Boxes that walk and jump; the team is rewarded for the height that any of them reaches."""

    parameters: Parameters = eqx.field(static=True)

    def __init__(self, preset: str = "paper", **arguments: Any) -> None:
        self.parameters = parameters_from(preset, arguments)

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return "box-jump"

    @property
    def num_agents(self) -> int:
        """How many boxes there are."""
        return self.parameters.num_boxes

    @property
    def num_actions(self) -> int:
        """Nothing, left, right, jump."""
        return 4

    @property
    def observation_size(self) -> int:
        """Own numbers, shared numbers, and the identifier if asked for."""
        ids = self.num_agents if self.parameters.agent_ids else 0
        return OWN_NUMBERS + len(self.parameters.shared_numbers) + ids

    @property
    def state_size(self) -> int:
        """Own numbers of every box, and the shared ones once."""
        return OWN_NUMBERS * self.num_agents + len(self.parameters.shared_numbers)

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self.parameters.max_steps

    def reset(self, key: PRNGKey) -> tuple[BoxJumpState, TimeStep]:
        """Put the boxes in a row around the middle of the map."""
        parameters, n = self.parameters, self.num_agents
        noise_key, kick_key = jax.random.split(key)
        middle = parameters.width / 2 - parameters.spacing * (n - 1) / 2
        noise = jax.random.uniform(noise_key, (n,), minval=-1.0)
        kick = jax.random.uniform(kick_key, (n,), minval=-1.0)
        bodies = Bodies(
            x=middle
            + parameters.spacing * jnp.arange(n, dtype=jnp.float32)
            + parameters.start_noise * noise,
            y=jnp.full((n,), 0.5 + parameters.start_height),
            angle=jnp.zeros(n),
            velocity=Motion(parameters.start_kick * kick, jnp.zeros(n), jnp.zeros(n)),
        )
        state = BoxJumpState(
            bodies=bodies,
            memory=no_memory(parameters),
            calm=jnp.zeros(n, jnp.int32),
            fallen=jnp.zeros(n, bool),
            best=jnp.float32(parameters.best_start),
            best_stable=jnp.float32(parameters.best_start),
            steps=jnp.int32(0),
        )
        observation, global_state = batch_last(self._observe, CHUNK)(state)
        return state, self._time_step(observation, global_state, jnp.zeros(n), False, False)

    def step(
        self, key: PRNGKey, state: BoxJumpState, actions: Int32[Array, " n"]
    ) -> tuple[BoxJumpState, TimeStep]:
        """Act once. Nothing is random, so `key` is not used."""
        state, (observation, global_state, rewards, terminated) = batch_last(self._advance, CHUNK)(
            state, actions
        )
        truncated = state.steps >= self.max_steps
        return state, self._time_step(observation, global_state, rewards, terminated, truncated)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Centres of the boxes, in box widths; one that fell is at the height it is seen at."""
        scaling = SCALINGS[self.parameters.scaling]
        x = scaling.place_x(observation[:, 0], self.parameters.width)
        return jnp.stack([x, scaling.place_y(observation[:, 1])], axis=1)

    def _observe(self, state: BoxJumpState) -> tuple[Float[Array, "n o *b"], Float[Array, "s *b"]]:
        return observe(state, self.parameters)

    def _advance(
        self, state: BoxJumpState, actions: Int32[Array, "n *b"]
    ) -> tuple[BoxJumpState, tuple[Array, Array, Array, Array]]:
        """One step of a batch, whose axis is the last."""
        parameters = self.parameters
        once = once_by(state.steps)
        before = state

        def substep(_: Any, carry: Any) -> Any:
            state, ended = carry
            after = self._physics_step(state, actions, once)
            if parameters.fall_ends and parameters.substeps > 1:
                # The episode is over at the physics step of a fall: what follows does not happen.
                after = jax.tree.map(
                    lambda new, old: jnp.where(jnp.broadcast_to(ended, new.shape), old, new),
                    after,
                    state,
                )
            return after, ended | (parameters.fall_ends & jnp.any(after.fallen, axis=0))

        state, ended_by_fall = jax.lax.fori_loop(
            0, parameters.substeps, substep, (state, jnp.zeros_like(state.best, bool))
        )
        state = eqx.tree_at(lambda s: s.steps, state, state.steps + 1)
        rewards = agent_rewards(
            before, state, can_jump(state, parameters), ended_by_fall, parameters
        )
        terminated = ended_by_fall
        if parameters.target_height is not None:
            terminated = terminated | (state.best >= parameters.target_height)
        return state, (*self._observe(state), rewards, terminated)

    def _physics_step(
        self, state: BoxJumpState, actions: Int32[Array, "n *b"], once: Once
    ) -> BoxJumpState:
        parameters = self.parameters
        bodies = state.bodies
        velocity = drive(bodies.velocity, actions, can_jump(state, parameters), parameters)
        driven = Bodies(bodies.x, bodies.y, bodies.angle, velocity)
        bodies, memory = advance(driven, state.memory, state.fallen, parameters, once)
        calm = jnp.abs(bodies.velocity.y) < parameters.jump_calm
        moved = BoxJumpState(
            bodies=bodies,
            memory=memory,
            calm=jnp.where(calm, state.calm + 1, 0),
            fallen=state.fallen | fell_off(bodies, parameters),
            best=state.best,
            best_stable=state.best_stable,
            steps=state.steps,
        )
        return count_best(moved, can_jump(moved, parameters))

    def _time_step(
        self,
        observation: Float[Array, "n o"],
        global_state: Float[Array, " s"],
        rewards: Float[Array, " n"],
        terminated: Bool[Array, ""] | bool,
        truncated: Bool[Array, ""] | bool,
    ) -> TimeStep:
        return TimeStep(
            observation=observation,
            state=global_state,
            mask=jnp.ones((self.num_agents, self.num_actions), bool),
            reward=jnp.sum(rewards),
            agent_rewards=rewards,
            terminated=jnp.asarray(terminated),
            truncated=jnp.asarray(truncated),
        )

    def scene(self, state: BoxJumpState) -> Scene:
        """Boxes, the floor, and a line at the best height so far."""
        return scene(state, self.parameters)
