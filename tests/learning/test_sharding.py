"""A learner in parts. `vmap` with a named axis acts as the devices: the collectives are the same.

Real devices and processes are in tests/runs/test_devices.py.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from counter import Counter, HostCounter
from probes import Probe, make_tabular, quick_jit

from pairvdn import values
from pairvdn.acting import SpreadEpsilon
from pairvdn.learning import (
    Learner,
    LearnerState,
    Metrics,
    TransitionLoss,
    paper_learner,
    pqn_learner,
)
from pairvdn.learning import parallel_learner as make_parallel
from pairvdn.learning import replay as memory
from pairvdn.learning.devices import AXIS, Devices
from pairvdn.learning.records import Transition
from pairvdn.learning.sharding import dealt, gathered, part_of
from pairvdn.learning.updater import Updater

DEVICES = 4
ENV = Probe(jnp.arange(8.0).reshape(2, 2, 2), length=5, truncates=True)


def parallel(env: Any = ENV, **arguments: Any) -> Learner:
    small = {
        "num_epochs": 2,
        "rounds_per_epoch": 2,
        "num_envs": 8,
        "agent_steps_per_round": 5,
        "updates_per_round": 2,
        "random_agent_steps": 5,
        "replay_capacity": 96,
        "batch_size": 16,
        "n_step": 3,
    }
    return make_parallel(env, make_tabular(env), **(small | arguments))


def on_devices(function: Any, in_axes: Any) -> Any:
    return jax.vmap(function, in_axes=in_axes, axis_name=AXIS, axis_size=DEVICES)


@pytest.fixture(scope="module")
def trained() -> tuple[LearnerState, Metrics]:
    """States and metrics of all devices, which are the leading axis."""
    return quick_jit(on_devices(part_of(parallel(), DEVICES).train, None))(jax.random.key(0))


def test_what_is_common_is_the_same_on_all_devices(trained: tuple[LearnerState, Metrics]) -> None:
    state, metrics = trained
    counts = (state.replay.position, state.replay.size, state.env_steps, state.epoch, state.key)
    for leaf in jax.tree.leaves((state.learned, counts, metrics)):
        copies = [np.asarray(one).tobytes() for one in leaf]
        assert len(copies) == DEVICES
        assert len(set(copies)) == 1


def test_every_device_sees_something_else(trained: tuple[LearnerState, Metrics]) -> None:
    state, _ = trained
    assert len({one.tobytes() for one in np.asarray(state.replay.items.actions_tm1)}) == DEVICES


@pytest.mark.parametrize("schedule", ["pqn", "sequences"])
def test_the_other_schedules_run_on_devices(schedule: str) -> None:
    """The same counts as on one device, and replicas that agree to the bit."""
    make = values.maker("vdn", ENV.spec, encoder="gru", encoder_size=4, hidden_sizes=(4,))
    if schedule == "pqn":
        whole = pqn_learner(
            ENV, make, num_epochs=2, rounds_per_epoch=2, num_envs=8, agent_steps_per_round=4,
            batch_size=16,
        )  # fmt: skip
    else:
        whole = make_parallel(
            ENV, make, num_epochs=2, rounds_per_epoch=2, num_envs=8, agent_steps_per_round=4,
            updates_per_round=2, random_agent_steps=4, replay_capacity=256, batch_size=16,
        )  # fmt: skip
    state, metrics = quick_jit(on_devices(part_of(whole, DEVICES).train, None))(jax.random.key(0))
    for leaf in jax.tree.leaves((state.learned, metrics)):
        assert len({np.asarray(one).tobytes() for one in leaf}) == 1
    _, expected = quick_jit(whole.train)(jax.random.key(0))
    for name in ("env_steps", "updates", "episodes"):
        assert getattr(metrics, name)[0].tolist() == getattr(expected, name).tolist(), name
    single = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), whole.shape())
    back = gathered(dealt(single, DEVICES), DEVICES)
    jax.tree.map(np.testing.assert_array_equal, back, single)


def test_counts_are_those_of_a_single_device(trained: tuple[LearnerState, Metrics]) -> None:
    state, metrics = jax.tree.map(lambda leaf: leaf[0], trained)
    whole, expected = quick_jit(parallel().train)(jax.random.key(0))
    for name in ("epoch", "env_steps", "updates", "episodes"):
        assert getattr(metrics, name).tolist() == getattr(expected, name).tolist(), name
    assert metrics.epsilon.tolist() == pytest.approx(expected.epsilon.tolist())
    assert state.replay.size * DEVICES == whole.replay.size
    assert state.replay.position * DEVICES == whole.replay.position


def test_exploration_is_spread_over_all_environments() -> None:
    epsilons = SpreadEpsilon().epsilons(jnp.int32(0), 8)
    parts = on_devices(Devices(DEVICES).own_part, None)(epsilons)
    assert parts.shape == (DEVICES, 2)
    assert parts.reshape(-1).tolist() == epsilons.tolist()


def random_batch(size: int) -> Transition:
    keys = jax.random.split(jax.random.key(1), 4)
    sees = jax.nn.one_hot(jax.random.randint(keys[0], (size,), 0, 2), 2)
    sees = jnp.broadcast_to(sees[:, None], (size, 2, 2))
    return jax.vmap(Transition)(
        sees,
        sees.reshape(size, 4),
        jax.random.randint(keys[1], (size, 2), 0, 2),
        jax.random.normal(keys[2], (size,)),
        jnp.full(size, 0.9),
        sees,
        sees.reshape(size, 4),
        jnp.ones((size, 2, 2), jnp.bool_),
    )


def updates(batch: Transition) -> tuple[Any, Any]:
    """What an update gives on one device, and what one of the parts gives on all of them."""
    updater = Updater(
        make_tabular(ENV), TransitionLoss(ENV), optimiser=optax.adam(0.1), gradient_clip=0.5
    )
    start = updater.init(jax.random.key(0))
    whole = quick_jit(updater.update)(start, batch, jnp.int32(0))
    parts = jax.tree.map(lambda leaf: leaf.reshape(DEVICES, -1, *leaf.shape[1:]), batch)
    divided = on_devices(
        lambda batch: updater.update(start, batch, jnp.int32(0), Devices(DEVICES)), 0
    )
    return whole, quick_jit(divided)(parts)


def test_an_update_with_parts_is_that_with_the_whole_batch() -> None:
    whole, divided = updates(random_batch(16))
    for expected, leaf in zip(jax.tree.leaves(whole), jax.tree.leaves(divided), strict=True):
        np.testing.assert_allclose(leaf, np.broadcast_to(expected, leaf.shape), rtol=1e-5)


def test_what_diverges_on_one_device_stops_all() -> None:
    batch = random_batch(16)
    spoiled = jnp.where(jnp.arange(16) == 5, jnp.nan, batch.reward_t)
    _, (learned, stats) = updates(
        jax.tree.map(lambda x: spoiled if x is batch.reward_t else x, batch)
    )
    assert learned.divergence.happened.tolist() == [True] * DEVICES
    assert stats.updates.tolist() == [0] * DEVICES
    assert jnp.isfinite(learned.value.weights).all()


def test_rows_of_the_replay_are_dealt_in_turn() -> None:
    learner = parallel()
    state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), learner.shape())
    ids = np.arange(learner.replay_capacity, dtype=np.float32)
    state = jax.tree.map(lambda leaf: ids if leaf is state.replay.items.reward_t else leaf, state)
    replay = dealt(state, DEVICES).replay
    for device in range(DEVICES):
        assert (replay.items.reward_t[:, device] % DEVICES == device).all()
        assert (np.diff(replay.items.reward_t[:, device]) > 0).all()
    back = gathered(dealt(state, DEVICES), DEVICES)
    jax.tree.map(np.testing.assert_array_equal, back, state)


def test_parts_of_a_replay_are_together_the_replay_of_a_single_device() -> None:
    """Also before it is full and when it goes round; items are the times of their decisions."""
    envs, capacity = 8, 24
    whole = memory.empty_like(jnp.zeros(0), capacity)
    part = memory.empty_like(jnp.zeros(0), capacity // DEVICES)
    for time in range(7):
        whole = memory.insert(whole, jnp.full(envs, float(time)))
        part = memory.insert(part, jnp.full(envs // DEVICES, float(time)))
        # All parts have the same times; as `shard_map` lays them out, the devices come second.
        items = jnp.stack([part.items] * DEVICES, axis=1)
        together = gathered(memory.Replay(items, part.position, part.size), DEVICES)
        assert together.items.tolist() == whole.items.tolist()
        assert (together.position, together.size) == (whole.position, whole.size)


@pytest.mark.parametrize(
    ("name", "number", "near"),
    [("num_envs", 6, "4 or 8"), ("batch_size", 3, "4"), ("replay_capacity", 98, "96 or 100")],
)
def test_what_cannot_be_divided_is_named(name: str, number: int, near: str) -> None:
    with pytest.raises(
        ValueError, match=rf"{name} must be a multiple .* 4, not {number}; use {near}"
    ):
        part_of(parallel(**{name: number}), DEVICES)


def test_a_single_environment_cannot_be_divided() -> None:
    with pytest.raises(ValueError, match="single environment"):
        part_of(paper_learner(ENV, make_tabular(ENV)), DEVICES)


def test_environments_on_the_host_cannot_be_divided() -> None:
    with pytest.raises(ValueError, match="on the host"):
        part_of(parallel(HostCounter(Counter(length=3)), num_envs=4), DEVICES)
