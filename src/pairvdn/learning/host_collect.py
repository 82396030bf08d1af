"""Gathering experience from environments that live on the host, stepped one after the other."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import HostEnvironment
from pairvdn.learning.collect import AgentStep, Carry, CollectStats, Policy, windows
from pairvdn.learning.players import Players
from pairvdn.learning.records import Transition
from pairvdn.types import PRNGKey


class HostCollecting(eqx.Module):
    """Where collection stands, without the environments themselves, which no file can hold.

    `mark` is the key of the last collection. Live copies that bear the same one are those that this
    record speaks of; where there are none, after a restart say, new episodes begin.
    """

    mark: UInt32[Array, "2"]
    episode_return: Float[Array, " envs"]
    pending: AgentStep  # [n_step - 1, envs]: the newest decisions, whose windows are not full yet


class HostCollector:
    """`num_envs` copies on the host, each action held `action_repeat` steps.

    All copies act on one call of the compiled policy; then each is stepped in Python. The blocks
    are those that `Collector` gathers. Methods have effects and cannot be compiled or vmapped.
    """

    def __init__(
        self,
        env: HostEnvironment,
        *,
        num_envs: int = 1,
        action_repeat: int = 1,
        n_step: int = 1,
        discount: float = 0.99,
    ) -> None:
        require_at_least(1, num_envs=num_envs, action_repeat=action_repeat, n_step=n_step)
        require_within(0, 1, discount=discount)
        self.env = env
        self.num_envs = num_envs
        self.action_repeat = action_repeat
        self.n_step = n_step
        self.discount = discount
        self._players: Players | None = None
        self._windows = jax.jit(windows, static_argnums=(1, 2))

    def start(
        self, key: PRNGKey, policy: Policy, decisions: int
    ) -> tuple[HostCollecting, Transition, CollectStats]:
        """Start every environment and collect a first block, as `collect` does.

        `n_step` - 1 more decisions are made, so that the window of the last one is full too.
        """
        _require_numbers(key)
        restart_key, gather_key = jax.random.split(key)
        players = self._restarted(restart_key)
        nothing = _blank(self.env, 0, self.num_envs)
        returns = np.zeros(self.num_envs, np.float32)
        more = self.n_step - 1
        return self._gather(players, nothing, returns, policy, gather_key, decisions + more)

    def collect(
        self, collecting: HostCollecting, policy: Policy, key: PRNGKey, decisions: int
    ) -> tuple[HostCollecting, Transition, CollectStats]:
        """Make so many decisions in every environment; transitions come oldest first."""
        _require_numbers(key)
        restart_key, gather_key = jax.random.split(key)
        pending, returns = jax.tree.map(np.array, (collecting.pending, collecting.episode_return))
        players = self._players
        if players is None or players.mark != _numbers(collecting.mark):
            players = self._restarted(restart_key)
            # What is pending belongs to episodes that are lost: cut there, as if truncated.
            pending.ended[-1:] = True
            returns[:] = 0
        return self._gather(players, pending, returns, policy, gather_key, decisions)

    def shape(self, decisions: int) -> tuple[HostCollecting, Transition, CollectStats]:
        """What `start` returns, without its numbers; nothing is stepped."""

        def shape(line: AgentStep) -> tuple[HostCollecting, Transition, CollectStats]:
            pending = jax.tree.map(lambda leaf: leaf[decisions:], line)
            mark, returns = jnp.zeros(2, jnp.uint32), jnp.zeros(self.num_envs)
            block = windows(line, decisions, self.n_step)
            return HostCollecting(mark, returns, pending), block, CollectStats.zero()

        line = _blank(self.env, decisions + self.n_step - 1, self.num_envs)
        found: tuple[HostCollecting, Transition, CollectStats] = jax.eval_shape(shape, line)
        return found

    def repeat(
        self, step: Callable[[Carry], tuple[Carry, Any]], start: Carry, length: int
    ) -> tuple[Carry, Any]:
        """Do a step so many times, one by one."""
        told = []
        for _ in range(length):
            start, one = step(start)
            told.append(one)
        return start, jax.tree.map(lambda *leaves: jnp.stack(leaves), *told)

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """The function, compiled by itself."""
        return jax.jit(function, donate_argnums=(0,) if donate else ())

    def _restarted(self, key: PRNGKey) -> Players:
        if self._players is None:
            self._players = Players(
                [self.env.copy() for _ in range(self.num_envs)],
                action_repeat=self.action_repeat,
                discount=self.discount,
            )
        self._players.restart(_numbers(jax.random.bits(key, (self.num_envs,), jnp.uint32)))
        return self._players

    def _gather(
        self,
        players: Players,
        pending: AgentStep,
        returns: Float[np.ndarray, " envs"],
        policy: Policy,
        key: PRNGKey,
        length: int,
    ) -> tuple[HostCollecting, Transition, CollectStats]:
        """Make `length` decisions after those that are pending; `returns` are counted on."""
        mark_key, act_key = jax.random.split(key)
        keys = np.asarray(jax.random.bits(act_key, (length, self.num_envs, 2), jnp.uint32))
        new = _blank(self.env, length, self.num_envs)
        steps, episodes, finished = 0, 0, 0.0
        for time in range(length):
            actions = np.asarray(policy(keys[time], players.timestep()))
            row = jax.tree.map(lambda leaf, time=time: leaf[time], new)  # views, to be written
            took, gained, ended = players.decide(actions, row)
            returns += gained
            steps, episodes = steps + took, episodes + int(ended.sum())
            finished += float(returns[ended].sum())
            returns[ended] = 0
        line = jax.tree.map(lambda *parts: np.concatenate(parts), pending, new)
        starts = len(line.ended) - (self.n_step - 1)
        mark = jax.random.bits(mark_key, (2,), jnp.uint32)
        players.mark = _numbers(mark)
        collecting = HostCollecting(
            mark,
            jnp.asarray(returns),
            jax.tree.map(lambda leaf: jnp.asarray(leaf[starts:]), line),
        )
        stats = CollectStats(jnp.int32(steps), jnp.int32(episodes), jnp.float32(finished))
        return collecting, self._windows(line, starts, self.n_step), stats


def _require_numbers(key: PRNGKey) -> None:
    """Refuse to be traced: Python would step the environments once, for all time and all seeds."""
    if isinstance(key, jax.core.Tracer):
        raise ValueError(
            "Environments on the host cannot be stepped inside jax.jit or jax.vmap, so there is no "
            "training of several seeds at once: call the learner's init, epoch and train as they "
            "are, once for each seed."
        )


def _blank(env: HostEnvironment, length: int, num_envs: int) -> AgentStep:
    """Arrays [length, envs, ...] to write decisions into."""

    def one() -> AgentStep:
        agents = (env.num_agents, env.observation_size)
        observation, state = jnp.zeros(agents), jnp.zeros(env.state_size)
        transition = Transition(
            observation_tm1=observation,
            state_tm1=state,
            actions_tm1=jnp.zeros(env.num_agents, jnp.int32),
            reward_t=jnp.float32(0),
            discount_t=jnp.float32(0),
            observation_t=observation,
            state_t=state,
            mask_t=jnp.zeros((env.num_agents, env.num_actions), bool),
        )
        return AgentStep(transition, jnp.bool_(False))

    blank: AgentStep = jax.tree.map(
        lambda leaf: np.zeros((length, num_envs, *leaf.shape), leaf.dtype), jax.eval_shape(one)
    )
    return blank


def _numbers(array: UInt32[Array, " _"]) -> tuple[int, ...]:
    return tuple(np.asarray(array).tolist())
