"""An environment that only counts, on the device and on the host."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32
from probes import timestep

from pairvdn.acting import Policy, side_by_side
from pairvdn.envs import Environment, HostCopy, HostEnvironment, HostStep
from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep


class Counter(Environment[Int32[Array, ""]]):
    """One agent sees the number of steps so far; step i pays i. Ends after `length` steps.

    By truncation, or by both flags at once (`terminates`), in which case termination wins.
    The mask of step i allows action i % 2 only, so that masks can be followed too.
    """

    length: int
    terminates: bool = False
    name: str = "counter"
    spec: EnvSpec = EnvSpec(num_agents=1, num_actions=2, observation_size=1, state_size=1)

    @property
    def max_steps(self) -> int:
        return self.length

    def _see(self, steps: Array, **arguments: Any) -> TimeStep:
        mask = (jnp.arange(2) == steps % 2)[None]
        return timestep(steps.astype(jnp.float32)[None, None], mask=mask, **arguments)

    def reset(self, key: PRNGKey) -> tuple[Array, TimeStep]:
        return jnp.int32(0), self._see(jnp.int32(0))

    def step(
        self, key: PRNGKey, state: Array, actions: Int32[Array, " n"]
    ) -> tuple[Array, TimeStep]:
        steps = state + 1
        over = steps >= self.length
        return steps, self._see(
            steps, reward=steps, terminated=over & self.terminates, truncated=over
        )

    def scene(self, state: Array) -> Scene:
        return Scene(bounds=jnp.zeros(4))


class FirstAllowed(Policy):
    """The first allowed action; remembers how many agent steps the episode has had."""

    def init(self, key: PRNGKey) -> Int32[Array, ""]:
        return jnp.int32(0)

    def act(
        self, key: PRNGKey, carry: Int32[Array, ""], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], Int32[Array, ""]]:
        return jnp.argmax(timestep.mask, axis=-1).astype(jnp.int32), carry + 1


first_allowed = side_by_side(FirstAllowed())


class HostCounter(HostEnvironment):
    """The same on the host."""

    inside: Counter
    name: str = "host-counter"
    spec: EnvSpec = EnvSpec(num_agents=1, num_actions=2, observation_size=1, state_size=1)

    @property
    def max_steps(self) -> int:
        return self.inside.length

    def copy(self) -> HostCopy:
        return HostCounterCopy(self.inside)


class HostCounterCopy(HostCopy):
    """Keeps the state that the pure functions hand around, and the seeds that it was given."""

    def __init__(self, inside: Counter) -> None:
        self._reset, self._step = jax.jit(inside.reset), jax.jit(inside.step)
        self.seeds: list[int] = []

    def reset(self, seed: int) -> HostStep:
        self.seeds.append(seed)
        self.state, told = self._reset(jax.random.key(0))
        return self._told(told)

    def step(self, actions: np.ndarray) -> HostStep:
        self.state, told = self._step(jax.random.key(0), self.state, actions)
        return self._told(told)

    def _told(self, told: TimeStep) -> HostStep:
        return HostStep(*(np.asarray(leaf) for leaf in jax.tree.leaves(told)))
