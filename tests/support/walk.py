"""A small honest environment, and a way to break it: material for tests of the contract."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn.envs import Environment
from pairvdn.envs.scene import Circles, Scene
from pairvdn.types import EnvSpec, TimeStep

NUM_AGENTS, LAST_CELL, MAX_STEPS = 2, 3, 6
STAY = 1
MOVES = (-1, 0, 1, 2)


class WalkState(eqx.Module):
    cells: jax.Array
    time: jax.Array


class Walk(Environment[WalkState]):
    """Agents on a line: left, stay, right, two to the right. All at the right end: 1 each, the end.

    A move beyond the line is masked, and now and then an agent slips and stays.
    """

    name = "walk"
    spec = EnvSpec(
        num_agents=NUM_AGENTS,
        num_actions=len(MOVES),
        observation_size=2,
        state_size=NUM_AGENTS,
        has_positions=True,
    )
    max_steps = MAX_STEPS

    def reset(self, key):
        cells = (jax.random.bits(key, (NUM_AGENTS,)) % LAST_CELL).astype(jnp.int32)
        state = WalkState(cells, jnp.zeros((), jnp.int32))
        return state, tell(state, jnp.asarray(False), jnp.asarray(False))

    def step(self, key, state, actions):
        actions = self.as_actions(actions, no_op=STAY)
        allowed = jnp.take_along_axis(allowed_moves(state.cells), actions[:, None], 1)[:, 0]
        slips = jax.random.bits(key, (NUM_AGENTS,)) % 10 == 0
        actions = jnp.where(allowed & ~slips, actions, STAY)
        cells = state.cells + jnp.array(MOVES, jnp.int32)[actions]
        state = WalkState(cells, state.time + 1)
        return state, tell(state, (cells == LAST_CELL).all(), state.time >= MAX_STEPS)

    def scene(self, state):
        x = state.cells.astype(jnp.float32)
        return Scene(
            bounds=jnp.array([-1.0, -1.0, LAST_CELL + 1.0, 1.0]),
            circles=Circles(
                centre=jnp.stack([x, jnp.zeros_like(x)], axis=1),
                radius=jnp.full((NUM_AGENTS,), 0.4),
                colour=jnp.full((NUM_AGENTS, 3), 0.5),
                agent=jnp.arange(NUM_AGENTS, dtype=jnp.int32),
            ),
        )

    def positions(self, observation, state):
        del state
        return observation[:, :1] * LAST_CELL


def allowed_moves(cells):
    goals = cells[:, None] + jnp.array([MOVES], jnp.int32)
    return (goals >= 0) & (goals <= LAST_CELL)


def tell(state, terminated, truncated):
    place = state.cells.astype(jnp.float32) / LAST_CELL
    time = jnp.full((NUM_AGENTS,), state.time.astype(jnp.float32) / MAX_STEPS)
    rewards = jnp.full((NUM_AGENTS,), terminated.astype(jnp.float32))
    return TimeStep(
        observation=jnp.stack([place, time], axis=1),
        state=place,
        mask=allowed_moves(state.cells),
        reward=rewards.sum(),
        agent_rewards=rewards,
        terminated=terminated,
        truncated=truncated,
    )


class Broken(Environment[WalkState]):
    """`Walk` with something replaced: each hook takes Walk's own result and what went in."""

    name: str = "broken"
    spec: EnvSpec = Walk.spec
    max_steps: int = Walk.max_steps
    on_reset: Callable = lambda result, key: result
    on_step: Callable = lambda result, key, state, actions: result
    on_actions: Callable = lambda actions: actions
    on_scene: Callable = lambda scene: scene
    on_positions: Callable = lambda places: places
    team_reward: str = "sum"
    action_names: tuple = ("left", "stay", "right", "leap")
    observation_names: tuple = ("place", "time")
    extra: object = None

    def reset(self, key):
        return self.on_reset(Walk().reset(key), key)

    def step(self, key, state, actions):
        actions = self.on_actions(actions)
        return self.on_step(Walk().step(key, state, actions), key, state, actions)

    def scene(self, state):
        return self.on_scene(Walk().scene(state))

    def positions(self, observation, state):
        return self.on_positions(Walk().positions(observation, state))
