"""Environments whose values are known, and a value small enough to learn them exactly.

Each probe adds one thing that can go wrong, so the first that fails says where the bug is.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs import Environment
from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep
from pairvdn.values import Inputs, Value
from pairvdn.values.encoders import NoEncoder

# Programs of tests run for a moment, so half an optimisation is the quicker way to the answer.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def timestep(
    observation: Array,
    *,
    num_actions: int = 2,
    reward: Array | float = 0.0,
    terminated: Array | bool = False,
    truncated: Array | bool = False,
    mask: Array | None = None,
) -> TimeStep:
    """A time step of agents that all see the same numbers."""
    agents = observation.shape[0]
    reward = jnp.asarray(reward, jnp.float32)
    return TimeStep(
        observation=observation,
        state=observation.reshape(-1),
        mask=jnp.ones((agents, num_actions), jnp.bool_) if mask is None else mask,
        reward=reward,
        agent_rewards=jnp.full(agents, reward / agents),
        terminated=jnp.asarray(terminated),
        truncated=jnp.asarray(truncated),
    )


class Probe(Environment[Int32[Array, "2"]]):
    """Two agents, two actions, a short life; the state is (what is seen, steps so far).

    `rewards[seen, first action, second action]` is paid, then what is seen moves on by `drift`
    (modulo the number of rows). Ends after `length` steps, by termination or truncation.
    """

    rewards: Float[Array, "seen 2 2"]
    length: int
    truncates: bool = False
    drift: int = 0
    name: str = "probe"

    @property
    def spec(self) -> EnvSpec:
        rows = self.rewards.shape[0]
        return EnvSpec(num_agents=2, num_actions=2, observation_size=rows, state_size=2 * rows)

    @property
    def max_steps(self) -> int:
        return self.length

    def _see(self, seen: Array) -> Array:
        row = jax.nn.one_hot(seen, self.observation_size, dtype=jnp.float32)
        return jnp.broadcast_to(row, (2, self.observation_size))

    def reset(self, key: PRNGKey) -> tuple[Array, TimeStep]:
        anywhere = jax.random.randint(key, (), 0, self.observation_size)
        seen = anywhere if self.drift == 0 else jnp.int32(0)
        state = jnp.stack([seen, jnp.int32(0)])
        return state, timestep(self._see(seen))

    def step(
        self, key: PRNGKey, state: Array, actions: Int32[Array, " n"]
    ) -> tuple[Array, TimeStep]:
        seen, steps = state
        reward = self.rewards[seen, actions[0], actions[1]]
        seen, steps = (seen + self.drift) % self.observation_size, steps + 1
        over = steps >= self.length
        return jnp.stack([seen, steps]), timestep(
            self._see(seen),
            reward=reward,
            terminated=over & (not self.truncates),
            truncated=over & self.truncates,
        )

    def scene(self, state: Array) -> Scene:
        return Scene(bounds=jnp.zeros(4))


class Tabular(Value[Float[Array, "a ..."]]):
    """A number for every joint action of two agents, linear in the first agent's observation."""

    encoder: NoEncoder
    weights: Float[Array, "o a a"]
    num_heads: int = eqx.field(static=True)

    def __init__(self, weights: Float[Array, "o a a"], num_heads: int = 1) -> None:
        observation_size, num_actions, _ = weights.shape
        self.encoder = NoEncoder(EnvSpec(2, num_actions, observation_size, 2 * observation_size))
        self.weights, self.num_heads = weights, num_heads

    def compute_tables(self, inputs: Inputs) -> Array:
        return jnp.tensordot(inputs.features[0], self.weights, 1)

    def evaluate(self, tables: Array, actions: Int32[Array, " n"]) -> Float[Array, " h"]:
        return jnp.full(self.num_heads, tables[actions[0], actions[1]])

    def greedy(
        self, tables: Array, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " h"]]:
        allowed = mask[0][:, None] & mask[1][None, :]
        best = jnp.argmax(jnp.where(allowed, tables, -jnp.inf))
        actions = jnp.stack(jnp.unravel_index(best, tables.shape)).astype(jnp.int32)
        return actions, self.evaluate(tables, actions)


def make_tabular(env: Environment[Any], num_heads: int = 1) -> Any:
    """A builder of `Tabular` for an environment, as learners want it."""

    def make(*, key: PRNGKey) -> Tabular:
        shape = (env.observation_size, env.num_actions, env.num_actions)
        return Tabular(0.1 * jax.random.normal(key, shape), num_heads)

    return make
