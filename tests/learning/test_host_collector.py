"""Collecting on the host gives what collecting on the device gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, HostCounter, first_allowed
from probes import quick_jit
from small_zoo import Guess

from pairvdn import values
from pairvdn.acting import LinearEpsilon
from pairvdn.envs import Task, from_pettingzoo
from pairvdn.evaluation import play_greedy, play_random
from pairvdn.learning import collector_for, parallel_learner
from pairvdn.learning.collector import Collector
from pairvdn.learning.host_collector import HostCollector
from pairvdn.learning.recorders import Windows
from pairvdn.types import EnvSpec

KEYS = [jax.random.PRNGKey(number) for number in range(4)]


def gather(start, collect):
    """Two blocks of four agent steps, one after the other."""
    collecting, *first = start(KEYS[0], first_allowed, 4)
    _, *second = collect(collecting, first_allowed, KEYS[1], 4)
    return first, second


@pytest.mark.parametrize(
    ("terminates", "n_step", "action_repeat"), [(False, 1, 1), (True, 3, 1), (False, 2, 2)]
)
def test_the_same_blocks_and_statistics_as_on_the_device(terminates, n_step, action_repeat):
    counter = Counter(5, terminates)
    settings = {
        "num_envs": 2,
        "recorder": Windows(n_step),
        "action_repeat": action_repeat,
        "discount": 0.5,
    }
    on_device = Collector(counter, **settings)
    on_host = collector_for(HostCounter(counter), **settings)
    device = gather(
        quick_jit(on_device.start, static_argnums=(1, 2)),
        quick_jit(on_device.collect, static_argnums=(1, 3)),
    )
    host = gather(on_host.start, on_host.collect)
    for ours, theirs in zip(jax.tree.leaves(host), jax.tree.leaves(device), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_shapes_are_known_without_a_step():
    collector = HostCollector(HostCounter(Counter(5)), num_envs=2, recorder=Windows(3))
    told = collector.start(KEYS[0], first_allowed, 4)
    shape = collector.shape(first_allowed, 4)
    assert jax.tree.structure(told) == jax.tree.structure(shape)
    for leaf, like in zip(jax.tree.leaves(told), jax.tree.leaves(shape), strict=True):
        assert (leaf.shape, leaf.dtype) == (like.shape, like.dtype)


def test_copies_that_are_lost_start_anew_and_what_was_pending_is_cut():
    settings = {"num_envs": 1, "recorder": Windows(3), "discount": 0.5}
    before = HostCollector(HostCounter(Counter(9)), **settings)
    collecting, _, _ = before.start(KEYS[0], first_allowed, 2)  # and 2 more that are pending
    after = HostCollector(HostCounter(Counter(9)), **settings)
    _, block, stats = after.collect(collecting, first_allowed, KEYS[1], 4)
    # Agent steps 2 and 3 of the old episode end where it was cut, in 4; then 0 and 1 of a new one.
    assert block.observation_tm1.ravel().tolist() == [2, 3, 0, 1]
    assert block.observation_t.ravel().tolist() == [4, 4, 3, 4]
    assert block.reward_t.tolist() == [3 + 4 / 2, 4, 1 + 2 / 2 + 3 / 4, 2 + 3 / 2 + 4 / 4]
    assert block.discount_t.tolist() == [0.25, 0.5, 0.125, 0.125]  # a cut bootstraps
    assert int(stats.env_steps) == 4


def test_an_older_state_does_not_go_on_with_newer_copies():
    collector = HostCollector(HostCounter(Counter(9)), num_envs=1)
    old, _, _ = collector.start(KEYS[0], first_allowed, 2)
    collector.collect(old, first_allowed, KEYS[1], 2)
    _, block, _ = collector.collect(old, first_allowed, KEYS[2], 2)
    assert block.observation_tm1.ravel().tolist() == [0, 1]


def test_every_episode_has_a_seed_of_its_own_and_the_key_decides_them():
    def seeds(key):
        collector = HostCollector(HostCounter(Counter(2)), num_envs=2)
        collector.start(key, first_allowed, 6)
        return [copy.seeds for copy in collector._copies._copies]

    first, again, other = seeds(KEYS[0]), seeds(KEYS[0]), seeds(KEYS[1])
    assert first == again
    assert len({seed for copy in [*first, *other] for seed in copy}) == 4 * 4


def test_it_refuses_to_be_compiled_or_vmapped():
    collector = HostCollector(HostCounter(Counter(2)))
    with pytest.raises(ValueError, match=r"inside jax.jit or jax.vmap.* several seeds"):
        jax.vmap(lambda key: collector.start(key, first_allowed, 2))(jnp.stack(KEYS))
    collecting, _, _ = collector.start(KEYS[0], first_allowed, 2)
    with pytest.raises(ValueError, match=r"inside jax.jit or jax.vmap"):
        jax.jit(lambda key: collector.collect(collecting, first_allowed, key, 2))(KEYS[1])


class Neither(Task):
    """Neither pure functions nor copies."""

    name = "neither"
    spec = EnvSpec(num_agents=1, num_actions=1, observation_size=1, state_size=1)
    max_steps = 1


def test_an_environment_must_be_of_one_kind():
    with pytest.raises(ValueError, match="from_pettingzoo"):
        collector_for(Neither())


def test_a_learner_learns_on_the_host():
    env = from_pettingzoo(Guess)

    def make_value(*, key):
        return values.make("vdn", env.spec, hidden_sizes=(16,), key=key)

    learner = parallel_learner(
        env,
        make_value,
        num_epochs=3,
        rounds_per_epoch=10,
        num_envs=8,
        updates_per_round=20,
        batch_size=32,
        replay_capacity=512,
        n_step=1,
        exploration=LinearEpsilon(1.0, 0.1, epochs=3),
    )
    shape = learner.shape()
    state, metrics = learner.train(KEYS[0])
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), state) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), shape
    )
    assert metrics.env_steps.tolist() == [8 * (50 + 50 * epoch) for epoch in (1, 2, 3)]
    assert metrics.episodes.tolist() == [400] * 3
    assert metrics.mean_return[0] < 0.5 < metrics.mean_return[2]
    played = play_greedy(env, learner.value(state), episodes=40, seed=0, moments=(1,))
    np.testing.assert_array_equal(played.returns, np.ones(40))
    np.testing.assert_array_equal(played.measures["return"][1], np.ones(40))
    random = play_random(env, episodes=400, seed=0).returns
    assert abs(random.mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 400)
    assert jnp.all(~metrics.diverged)
