"""The carry of a policy: fresh at the start of every episode, passed on within it, saved."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, HostCounter, first_allowed
from jaxtyping import Array, Int32
from probes import quick_jit

from pairvdn.acting import Policy, RandomPolicy, side_by_side
from pairvdn.acting.rollout import AgentStep, Observer, rollout
from pairvdn.evaluation.host import HostEpisodes
from pairvdn.learning.collector import Collector
from pairvdn.learning.host_collector import HostCollector
from pairvdn.types import EnvSpec, PRNGKey, TimeStep
from pairvdn.values import Encoder
from pairvdn.values.encoder import unroll_step_by_step

KEY = jax.random.PRNGKey(0)


@pytest.mark.parametrize(("length", "left"), [(3, 3), (4, 4), (5, 0), (7, 2)])
@pytest.mark.parametrize("host", [False, True])
def test_collectors_reset_it_where_an_episode_ends(host: bool, length: int, left: int) -> None:
    """The policy counts its agent steps; an episode has five."""
    if host:
        collecting, _, _ = HostCollector(HostCounter(Counter(5))).start(KEY, first_allowed, length)
        carry = collecting.carry
    else:
        start = quick_jit(Collector(Counter(5)).start, static_argnums=(1, 2))
        collecting, _, _ = start(KEY, first_allowed, length)
        carry = collecting.stream.carry
    assert carry.tolist() == [left]


def test_it_counts_agent_steps_not_environment_steps() -> None:
    collector = Collector(Counter(9), action_repeat=2)
    collecting, _, _ = quick_jit(collector.start, static_argnums=(1, 2))(KEY, first_allowed, 3)
    assert collecting.stream.carry.tolist() == [3]
    assert collecting.stream.env_state.tolist() == [6]


@pytest.mark.parametrize("host", [False, True])
def test_collecting_in_parts_carries_it_over(host: bool) -> None:
    if host:
        collector = HostCollector(HostCounter(Counter(5)))
        start, collect = collector.start, collector.collect
    else:
        device = Collector(Counter(5))
        start = quick_jit(device.start, static_argnums=(1, 2))
        collect = quick_jit(device.collect, static_argnums=(1, 3))
    collecting, _, _ = start(KEY, first_allowed, 2)
    collecting, _, _ = collect(collecting, first_allowed, KEY, 2)
    carry = collecting.carry if host else collecting.stream.carry
    assert carry.tolist() == [4]


def test_copies_that_are_lost_start_with_a_fresh_one() -> None:
    collecting, _, _ = HostCollector(HostCounter(Counter(9))).start(KEY, first_allowed, 4)
    after, _, _ = HostCollector(HostCounter(Counter(9))).collect(collecting, first_allowed, KEY, 2)
    assert after.carry.tolist() == [2]


class EveryOther(Policy):
    """Alternates between the two actions, by memory alone."""

    def init(self, key: PRNGKey) -> Int32[Array, ""]:
        return jnp.int32(0)

    def act(
        self, key: PRNGKey, carry: Int32[Array, ""], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], Int32[Array, ""]]:
        return (carry % 2)[None], carry + 1


class Choices(Observer[Array]):
    """Keeps all actions, [steps, episodes]."""

    def begin(self, env_state: Array, carry: Array, timestep: TimeStep) -> Array:
        return jnp.full((6, len(carry)), -1)

    def acted(self, account: Array, step: Array, choice: AgentStep) -> Array:
        assert choice.carry.shape == choice.timestep.reward.shape
        return account

    def stepped(self, account: Array, step: Array, done) -> Array:
        return account.at[step].set(done.actions[:, 0])


@pytest.mark.parametrize(("repeat", "taken"), [(1, [0, 1, 0, 1, 0, 1]), (2, [0, 0, 1, 1, 0, 0])])
def test_rollouts_pass_it_on(repeat: int, taken: list[int]) -> None:
    actions = rollout(
        Counter(6), EveryOther(), Choices(), key=KEY, num_episodes=2, action_repeat=repeat
    )
    assert actions.T.tolist() == [taken, taken]


def test_host_episodes_start_with_a_fresh_one() -> None:
    """More episodes than copies, of five agent steps each: every episode counts from 0 again."""
    seen: list[list[int]] = []

    class Watched(Policy):
        def init(self, key: PRNGKey) -> Int32[Array, ""]:
            return jnp.int32(0)

        def act(
            self, key: PRNGKey, carry: Int32[Array, ""], timestep: TimeStep
        ) -> tuple[Int32[Array, " n"], Int32[Array, ""]]:
            jax.debug.callback(
                lambda steps, counted: seen.append([int(steps), int(counted)]),
                timestep.observation[0, 0],
                carry,
            )
            return jnp.argmax(timestep.mask, axis=-1).astype(jnp.int32), carry + 1

    HostEpisodes(HostCounter(Counter(5)), 20).play(Watched(), seed=(0,))
    jax.effects_barrier()
    playing = [one for one in seen if one[0] < 5]
    assert len(playing) == 100
    assert all(steps == counted for steps, counted in playing)


class Sum(Encoder[tuple[Array, Array]]):
    """An encoder that adds up all observations and remembers the last actions."""

    spec: EnvSpec = EnvSpec(1, 2, 1, 1)
    feature_size: int = 1

    def init_carry(self) -> tuple[Array, Array]:
        return jnp.zeros((1, 1)), jnp.full(1, -1)

    def encode(
        self, carry: tuple[Array, Array], observation: Array
    ) -> tuple[Array, tuple[Array, Array]]:
        total = carry[0] + observation
        return total, (total, carry[1])

    def acted(self, carry: tuple[Array, Array], actions: Array) -> tuple[Array, Array]:
        return carry[0], actions

    def unroll(self, carry: tuple[Array, Array], *steps: Array) -> tuple[Array, Any]:
        return unroll_step_by_step(self, carry, *steps)


def test_the_memory_of_a_value_sees_random_steps_too() -> None:
    actor = side_by_side(RandomPolicy(Sum()))
    collector = Collector(Counter(9))
    collecting, block, _ = quick_jit(collector.start, static_argnums=(1, 2))(KEY, actor, 4)
    total, last = collecting.stream.carry
    assert total.ravel().tolist() == [0 + 1 + 2 + 3]
    np.testing.assert_array_equal(last[0], block.actions_tm1[-1])
