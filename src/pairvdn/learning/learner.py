"""The training loop, the same for every method and schedule: collect, store, update."""

import dataclasses
import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PyTree, UInt32

from pairvdn.acting.exploration import Exploration
from pairvdn.acting.policy import (
    Actor,
    EpsilonGreedyPolicy,
    GreedyPolicy,
    RandomPolicy,
    side_by_side,
)
from pairvdn.checks import require_at_least
from pairvdn.learning import replay as replay_memory
from pairvdn.learning.collectors import Collects, CollectStats
from pairvdn.learning.devices import ONE, Devices
from pairvdn.learning.divergence import Divergence
from pairvdn.learning.gap import maximisation_gap
from pairvdn.learning.optimisers import LinearDecay, Schedules
from pairvdn.learning.records import Metrics
from pairvdn.learning.replay import Minibatches, Replay
from pairvdn.learning.updater import Learned, Updater, UpdateStats
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value


class LearnerState(eqx.Module):
    """The complete state of training: resuming is bit-exact. All leaves are plain arrays."""

    learned: Learned
    replay: Replay[Any]  # of transitions or sequences; empty if the learner stores nothing
    collecting: PyTree[Array]  # the state of the collector, with the policy's carry
    key: UInt32[Array, "2"]
    env_steps: Int32[Array, ""]
    epoch: Int32[Array, ""]  # finished epochs

    @property
    def updates(self) -> Int32[Array, ""]:
        """Gradient steps so far."""
        return self.learned.updates

    @property
    def divergence(self) -> Divergence:
        """Whether and when learning diverged."""
        return self.learned.divergence


@dataclasses.dataclass(eq=False)
class Learner:
    """Trains a value: `init(key)`, then `epoch(state)` repeatedly; `train(key)` runs all epochs.

    An epoch has `rounds_per_epoch` rounds. In a round every environment takes
    `agent_steps_per_round` epsilon-greedy agent steps, the transitions or sequences go into the
    replay, and updates follow on the batches that `minibatches` draws. Before the first epoch every
    environment takes `random_agent_steps` random agent steps. `replay_capacity` counts items of the
    replay; without one (None) the updates of a round use its own block, which is then dropped.

    With `fresh_episodes` every epoch starts new episodes; running ones are cut off, as if
    truncated. `random_collector` takes the random agent steps in place of `collector`, for example
    in an environment with other ends; learning then starts with new episodes.

    Methods are pure functions of their arguments and may be jitted and vmapped over keys or
    states. The object is hashed by identity, so `jax.jit(learner.epoch)` is compiled once. Donate
    the state (`donate_argnums=0`) and the replay is updated in place.

    With environments on the host, call the methods without `jit`: the learner compiles its own
    parts, and `epoch` donates its argument.

    With several `devices`, this is the learner of one of them: `num_envs`, `replay_capacity` and
    the batch size are per device, and methods must run inside `shard_map` (see `sharding.py`).
    """

    collector: Collects[Any]
    updater: Updater
    _: dataclasses.KW_ONLY
    exploration: Exploration
    minibatches: Minibatches
    num_epochs: int
    rounds_per_epoch: int
    agent_steps_per_round: int
    random_agent_steps: int
    replay_capacity: int | None
    fresh_episodes: bool = False
    random_collector: Collects[Any] | None = None
    devices: Devices = ONE

    def __post_init__(self) -> None:
        require_at_least(
            1,
            num_epochs=self.num_epochs,
            rounds_per_epoch=self.rounds_per_epoch,
            agent_steps_per_round=self.agent_steps_per_round,
        )
        require_at_least(0, random_agent_steps=self.random_agent_steps)
        collector = self.collector
        if self.replay_capacity is not None:
            self._require_capacity(self.replay_capacity)
        if self.most_steps >= 2**31:
            raise ValueError(
                f"A run may have at most {2**31 - 1:,} environment steps, not {self.most_steps:,}; "
                "use fewer epochs or environments."
            )
        self._make_learned = collector.compiled(self.updater.init)
        self._init_carry = collector.compiled(self._carries)
        self._act = collector.compiled(self._epsilon_greedy)
        self._act_at_random = collector.compiled(self._random)
        self._begin = collector.compiled(self._first_state)
        self._learn = collector.compiled(self.learn, donate=True)
        self._finish = collector.compiled(self.finish_epoch, donate=True)

    def _require_capacity(self, capacity: int) -> None:
        longest = max(self.agent_steps_per_round, self.random_agent_steps)
        block = self.collector.num_items(longest)
        needed = {"the size of the largest block": block, "one batch": self.minibatches.batch_size}
        stride = self.collector.recorder.stride
        for what, size in needed.items():
            if capacity < size:
                raise ValueError(
                    f"replay_capacity must be at least {size * stride}, {what}, "
                    f"not {capacity * stride}."
                )

    @property
    def most_steps(self) -> int:
        """The most environment steps of a run on all devices: no action repeat is cut short."""
        agent_steps = self.num_epochs * self.rounds_per_epoch * self.agent_steps_per_round
        envs = self.collector.num_envs * self.devices.count
        return (self.random_agent_steps + agent_steps) * envs * self.collector.action_repeat

    def init(self, key: PRNGKey) -> LearnerState:
        """A new value, started environments, and random agent steps in the replay."""
        # Draw a raw key, which can be saved, from any kind of key.
        key = jax.random.bits(key, (2,), jnp.uint32)
        key, value_key, start_key = jax.random.split(key, 3)
        learned: Learned = self._make_learned(value_key)
        state: LearnerState = self._begin(key, learned, *self._start(learned, start_key))
        return state

    def shape(self) -> LearnerState:
        """The shapes of the result of `init`; no environment is stepped."""
        learned, started = self._started_shape(self.random_agent_steps)
        key = jax.random.PRNGKey(0)
        state: LearnerState = jax.eval_shape(self._first_state, key, learned, *started)
        return state

    def block_shape(self) -> PyTree[Any]:
        """The shapes of the block that a round collects."""
        _, (_, block, _) = self._started_shape(self.agent_steps_per_round)
        return block

    def _started_shape(self, agent_steps: int) -> tuple[Learned, Any]:
        learned = jax.eval_shape(self.updater.init, jax.random.PRNGKey(0))
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), learned)
        return learned, self.collector.shape(self._random_actor(zeros), agent_steps)

    def schedules(self, epoch: Int32[Array, ""]) -> Schedules:
        """The numbers for the epoch after `epoch` finished ones."""
        all_envs = self.collector.num_envs * self.devices.count
        decay = self.updater.decay
        return Schedules(
            self.exploration.epsilons(epoch, all_envs),
            None if decay is None else jax.tree.map(jnp.asarray, decay),
        )

    def epoch(
        self, state: LearnerState, schedules: Schedules | None = None
    ) -> tuple[LearnerState, Metrics]:
        """Collect and learn for one epoch; epsilon is constant within it.

        A program that takes `schedules(state.epoch)` as an input serves other schedules as well,
        also those of a longer run.
        """
        if schedules is None:
            schedules = self.schedules(state.epoch)
        epsilons = self.devices.own_part(schedules.epsilons)

        def one_round(
            carry: tuple[LearnerState, CollectStats, UpdateStats],
        ) -> tuple[tuple[LearnerState, CollectStats, UpdateStats], None]:
            state, collected, updated = carry
            key, collect_key, learn_key = jax.random.split(state.key, 3)
            collecting, block, stats = self.collector.collect(
                state.collecting,
                self._epsilon_greedy_actor(state.learned, epsilons),
                self.devices.own_key(collect_key),
                self.agent_steps_per_round,
            )
            state = eqx.tree_at(lambda s: (s.collecting, s.key), state, (collecting, key))
            state, more = self._learn(
                state, block, self.devices.own_key(learn_key), schedules.decay
            )
            collected = jax.tree.map(jnp.add, collected, stats)
            updated = jax.tree.map(jnp.add, updated, more)
            return (state, collected, updated), None

        if self.fresh_episodes:
            key, restart_key = jax.random.split(state.key)
            actor = self._epsilon_greedy_actor(state.learned, epsilons)
            fresh = self.collector.restart(
                state.collecting, actor, self.devices.own_key(restart_key)
            )
            state = eqx.tree_at(lambda s: (s.collecting, s.key), state, (fresh, key))
        start = (state, CollectStats.zero(), UpdateStats.zero())
        (state, collected, updated), _ = self.collector.repeat(
            one_round, start, self.rounds_per_epoch
        )
        done: tuple[LearnerState, Metrics] = self._finish(state, collected, updated, epsilons)
        return done

    def learn(
        self,
        state: LearnerState,
        block: PyTree[Array],
        key: PRNGKey,
        decay: LinearDecay | None = None,
    ) -> tuple[LearnerState, UpdateStats]:
        """Put a block into the replay, if there is one, and make the updates of one round."""
        if self.replay_capacity is None:
            stored = state.replay
            source = replay_memory.only(self.updater.prepare(state.learned, block))
        else:
            stored = source = replay_memory.insert(state.replay, block)
        learned, stats = self.updater.learn(
            state.learned, source, self.minibatches, key, state.epoch + 1, self.devices, decay
        )
        return eqx.tree_at(lambda s: (s.replay, s.learned), state, (stored, learned)), stats

    def finish_epoch(
        self,
        state: LearnerState,
        collected: CollectStats,
        updated: UpdateStats,
        epsilons: Float[Array, " envs"],
    ) -> tuple[LearnerState, Metrics]:
        """Count the epoch and compute its metrics."""
        collected = self.devices.sum(collected)
        env_steps = state.env_steps + collected.env_steps
        updates = jnp.maximum(updated.updates, 1).astype(jnp.float32)
        metrics = Metrics(
            epoch=state.epoch + 1,
            env_steps=env_steps,
            updates=state.updates,
            episodes=collected.episodes,
            mean_return=collected.returns / jnp.maximum(collected.episodes, 1).astype(jnp.float32),
            loss=updated.parts.loss / updates,
            td_error=updated.parts.td_error / updates,
            epsilon=self.devices.mean(jnp.mean(epsilons)),
            greedy_value=updated.parts.greedy_value / updates,
            diverged=state.divergence.happened,
            gap=self.devices.mean(
                maximisation_gap(
                    self.collector.env,
                    self.value(state),
                    state.replay,
                    self.minibatches.batch_size,
                )
            ),
        )
        counted = (env_steps, state.epoch + 1)
        return eqx.tree_at(lambda s: (s.env_steps, s.epoch), state, counted), metrics

    def train(self, key: PRNGKey) -> tuple[LearnerState, Metrics]:
        """Run all epochs; every leaf of the metrics has a leading epoch axis."""
        return self.collector.repeat(self.epoch, self.init(key), self.num_epochs)

    def value(self, state: LearnerState) -> Value[Any]:
        """The learned value, ready to be called."""
        return self.updater.value(state.learned)

    def _start(
        self, learned: Learned, key: PRNGKey
    ) -> tuple[PyTree[Array], PyTree[Array], CollectStats]:
        """Start the environments and take the random agent steps."""
        actor, key = self._random_actor(learned), self.devices.own_key(key)
        if self.random_collector is None:
            return self.collector.start(key, actor, self.random_agent_steps)
        random_key, start_key = jax.random.split(key)
        _, block, stats = self.random_collector.start(random_key, actor, self.random_agent_steps)
        collecting, _, more = self.collector.start(start_key, actor, 0)
        return collecting, block, jax.tree.map(jnp.add, stats, more)

    def _first_state(
        self,
        key: UInt32[Array, "2"],
        learned: Learned,
        collecting: PyTree[Array],
        block: PyTree[Array],
        stats: CollectStats,
    ) -> LearnerState:
        replay: Replay[Any] = replay_memory.nothing()
        if self.replay_capacity is not None:
            empty = replay_memory.empty_like(block, self.replay_capacity)
            replay = replay_memory.insert(empty, block)
        return LearnerState(
            learned=learned,
            replay=replay,
            collecting=collecting,
            key=key,
            env_steps=self.devices.sum(stats.env_steps),
            epoch=jnp.int32(0),
        )

    def _epsilon_greedy_actor(self, learned: Learned, epsilons: Float[Array, " envs"]) -> Actor:
        init = functools.partial(self._init_carry, learned)
        return Actor(init, functools.partial(self._act, learned, epsilons))

    def _random_actor(self, learned: Learned) -> Actor:
        """Acts at random and keeps the value's carry, so that epsilon-greedy can take over."""
        init = functools.partial(self._init_carry, learned)
        return Actor(init, functools.partial(self._act_at_random, learned))

    def _carries(self, learned: Learned, keys: Array) -> PyTree[Array]:
        return self._random_policies(learned).init(keys)

    def _random(
        self, learned: Learned, keys: Array, carry: PyTree[Array], timestep: TimeStep
    ) -> tuple[Int32[Array, "envs n"], PyTree[Array]]:
        return self._random_policies(learned).act(keys, carry, timestep)

    def _random_policies(self, learned: Learned) -> Actor:
        return side_by_side(RandomPolicy(self.updater.value(learned).encoder))

    def _epsilon_greedy(
        self,
        learned: Learned,
        epsilons: Float[Array, " envs"],
        keys: Array,
        carry: PyTree[Array],
        timestep: TimeStep,
    ) -> tuple[Int32[Array, "envs n"], PyTree[Array]]:
        greedy = GreedyPolicy(self.collector.env, self.updater.value(learned))

        def act(epsilon: Float[Array, ""], *one: Any) -> tuple[Int32[Array, " n"], PyTree[Array]]:
            return EpsilonGreedyPolicy(greedy, epsilon, self.exploration.answered).act(*one)

        return jax.vmap(act)(epsilons, keys, carry, timestep)
