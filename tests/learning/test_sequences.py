"""Sequences: frames with ids in every field, through resets, blocks, the host and the replay."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, HostCounter, first_allowed
from jaxtyping import Array
from probes import quick_jit, timestep

from pairvdn.envs import Environment
from pairvdn.envs.scene import Scene
from pairvdn.learning import replay as memory
from pairvdn.learning.collector import Collector
from pairvdn.learning.host_collector import HostCollector
from pairvdn.learning.recorders import Sequences
from pairvdn.learning.records import Sequence
from pairvdn.types import EnvSpec, PRNGKey, TimeStep


class Ids(Environment[Array]):
    """Every time of every episode has a number of its own, 100 x episode + step, in all fields.

    The episode is drawn at its reset. Even ones are truncated after 3 steps, odd ones terminated
    after 4. A step pays the number of the time at which it was taken.
    """

    name: str = "ids"
    spec: EnvSpec = EnvSpec(num_agents=1, num_actions=2, observation_size=1, state_size=1)
    max_steps: int = 4

    def _told(self, state: Array, **arguments: Any) -> TimeStep:
        return timestep(state.astype(jnp.float32)[None, None], **arguments)

    def reset(self, key: PRNGKey) -> tuple[Array, TimeStep]:
        state = 100 * jax.random.randint(key, (), 1, 1000)
        return state, self._told(state)

    def step(self, key: PRNGKey, state: Array, actions: Array) -> tuple[Array, TimeStep]:
        after, odd = state + 1, state // 100 % 2 == 1
        return after, self._told(
            after,
            reward=state,
            terminated=odd & (after % 100 == 4),
            truncated=~odd & (after % 100 == 3),
        )

    def scene(self, state: Array) -> Scene:
        return Scene(bounds=jnp.zeros(4))


def check(sequence: Sequence) -> int:
    """Follow one sequence frame by frame; the number of resets inside."""
    frames = jax.tree.map(np.asarray, sequence.frames)
    ids = frames.observation.ravel().astype(int)
    np.testing.assert_array_equal(frames.state.ravel(), ids)
    resets = 0
    for now, after, index in zip(ids, ids[1:], range(len(ids)), strict=False):
        odd, step = now // 100 % 2 == 1, now % 100
        final = not odd and step == 3
        assert frames.acted[index] == (not final)
        assert frames.ended[index] == (final or (odd and step == 3))
        assert frames.discount_t[index] == (0.0 if odd and step == 3 else 1.0 if final else 0.5)
        assert frames.reward_t[index] == (0 if final else now)
        if frames.ended[index]:
            assert after % 100 == 0
            assert after // 100 != now // 100
            resets += 1
        else:
            assert after == now + 1
    # The policy counts its agent steps: the carry is that of the first frame.
    assert int(sequence.carry) == ids[0] % 100
    return resets


def rows(block: Sequence) -> list[Sequence]:
    count = len(block.carry)
    return [jax.tree.map(lambda leaf, row=row: leaf[row], block) for row in range(count)]


@pytest.mark.parametrize(("length", "burn_in"), [(1, 0), (4, 0), (6, 3), (3, 5)])
def test_no_field_of_a_sequence_crosses_a_reset_unmarked(length: int, burn_in: int) -> None:
    recorder = Sequences(length, burn_in)
    collector = Collector(Ids(), num_envs=3, discount=0.5, recorder=recorder)
    start = quick_jit(collector.start, static_argnums=(1, 2))
    collect = quick_jit(collector.collect, static_argnums=(1, 3))
    collecting, block, _ = start(jax.random.key(0), first_allowed, 2 * length)
    blocks = [block]
    for seed in range(3):
        collecting, block, _ = collect(collecting, first_allowed, jax.random.key(seed), length)
        blocks.append(block)
    replay = memory.empty_like(blocks[0], 12)
    for block in blocks:  # 15 rows into 12: it wraps around
        replay = memory.insert(replay, block)
    assert int(replay.size) == 12
    taken = rows(memory.take(replay, jnp.arange(12, dtype=jnp.int32)))
    resets = sum(map(check, taken))
    assert resets > 0 or length == 1
    assert all(len(one.frames.acted) == burn_in + length + 1 for one in taken)


def test_sequences_continue_where_blocks_meet() -> None:
    """The frame after a sequence is the first that the next one learns."""
    collector = Collector(Ids(), num_envs=2, discount=0.5, recorder=Sequences(3, burn_in=1))
    start = quick_jit(collector.start, static_argnums=(1, 2))
    collect = quick_jit(collector.collect, static_argnums=(1, 3))
    collecting, first, _ = start(jax.random.key(0), first_allowed, 3)
    _, second, _ = collect(collecting, first_allowed, jax.random.key(1), 3)
    np.testing.assert_array_equal(
        first.frames.observation[:, -2:], second.frames.observation[:, :2]
    )


@pytest.mark.parametrize("terminates", [False, True])
@pytest.mark.parametrize("action_repeat", [1, 2])
def test_the_host_gives_the_same_sequences(terminates: bool, action_repeat: int) -> None:
    counter = Counter(5, terminates)
    settings: dict[str, Any] = {
        "num_envs": 2,
        "discount": 0.5,
        "action_repeat": action_repeat,
        "recorder": Sequences(4, burn_in=2),
    }
    device = Collector(counter, **settings)
    host = HostCollector(HostCounter(counter), **settings)
    told = []
    for start, collect in (
        (
            quick_jit(device.start, static_argnums=(1, 2)),
            quick_jit(device.collect, static_argnums=(1, 3)),
        ),
        (host.start, host.collect),
    ):
        collecting, *first = start(jax.random.PRNGKey(0), first_allowed, 8)
        _, *second = collect(collecting, first_allowed, jax.random.PRNGKey(1), 4)
        told.append((first, second))
    for ours, theirs in zip(*map(jax.tree.leaves, told), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_idle_frames_are_no_steps_and_episodes_count_once() -> None:
    collector = Collector(Counter(3), recorder=Sequences(8))
    _, block, stats = collector.start(jax.random.key(0), first_allowed, 8)
    assert block.frames.observation.ravel().tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert block.frames.acted.ravel().tolist() == [True, True, True, False] * 2 + [True]
    assert (int(stats.env_steps), int(stats.episodes), float(stats.returns)) == (7, 2, 12.0)


@pytest.mark.parametrize("host", [False, True])
def test_a_cut_stream_ends_with_a_final_frame(host: bool) -> None:
    """Frames 0, 1 and the pending 2, at which a step was taken whose result is lost; then 0, 1."""
    recorder = Sequences(2)
    if host:
        before: Any = HostCollector(HostCounter(Counter(9)), recorder=recorder)
        collecting, _, _ = before.start(jax.random.PRNGKey(0), first_allowed, 2)
        after = HostCollector(HostCounter(Counter(9)), recorder=recorder)
    else:
        after = before = Collector(Counter(9), recorder=recorder)
        collecting, _, _ = before.start(jax.random.PRNGKey(0), first_allowed, 2)
        collecting = before.restart(collecting, first_allowed, jax.random.PRNGKey(1))
    _, block, _ = after.collect(collecting, first_allowed, jax.random.PRNGKey(2), 2)
    assert block.frames.observation.ravel().tolist() == [2, 0, 1]
    assert block.frames.acted.ravel().tolist() == [False, True, True]
    assert block.frames.ended.ravel().tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "sequence_length must be from 1 to 1000000, not 0"),
        ((4, -1), "burn_in must be from 0 to 1000000, not -1"),
    ],
)
def test_wrong_lengths_are_named(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sequences(*arguments)
