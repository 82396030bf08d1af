"""Episodes of the paper's schedule: new ones in every epoch, other ends in the random phase."""

from typing import Any

import jax
import numpy as np
import pytest
from counter import Counter, HostCounter, first_allowed
from probes import quick_jit

from pairvdn import values
from pairvdn.envs import Task
from pairvdn.learning import Learner, collector_for, paper_learner
from pairvdn.learning.collector import Collector
from pairvdn.learning.final_step import WithFinalStep
from pairvdn.learning.recorders import Windows

KEYS = [jax.random.PRNGKey(number) for number in range(3)]


@pytest.mark.parametrize("env", [Counter(9), HostCounter(Counter(9))])
def test_a_restart_cuts_pending_windows_and_begins_at_zero(env: Task) -> None:
    collector = collector_for(env, num_envs=1, recorder=Windows(3), discount=0.5)
    collecting, _, _ = collector.start(KEYS[0], first_allowed, 2)  # and 2 more that are pending
    collecting = collector.restart(collecting, first_allowed, KEYS[1])
    _, block, _ = collector.collect(collecting, first_allowed, KEYS[2], 4)
    assert block.observation_tm1.ravel().tolist() == [2, 3, 0, 1]
    assert block.observation_t.ravel().tolist() == [4, 4, 3, 4]
    assert block.discount_t.tolist() == [0.25, 0.5, 0.125, 0.125]  # a cut bootstraps


def test_the_step_after_a_truncation_ends_the_episode_without_reward() -> None:
    collector = Collector(WithFinalStep(Counter(3)), discount=0.5)
    _, block, stats = quick_jit(collector.start, static_argnums=(1, 2))(KEYS[0], first_allowed, 6)
    assert block.observation_tm1.ravel().tolist() == [0, 1, 2, 3, 0, 1]
    assert block.reward_t.tolist() == [1, 2, 3, 0, 1, 2]
    assert block.discount_t.tolist() == [0.5, 0.5, 0.5, 0, 0.5, 0.5]
    assert (int(stats.episodes), float(stats.returns)) == (1, 6.0)


def test_a_terminated_episode_has_no_further_step() -> None:
    collector = Collector(WithFinalStep(Counter(2, terminates=True)), discount=0.5)
    _, block, _ = quick_jit(collector.start, static_argnums=(1, 2))(KEYS[0], first_allowed, 4)
    assert block.reward_t.tolist() == [1, 2, 1, 2]
    assert block.discount_t.tolist() == [0.5, 0, 0.5, 0]


def paper(env: Task, **arguments: Any) -> Learner:
    small = {
        "num_epochs": 2,
        "steps_per_epoch": 4,
        "random_steps": 7,
        "replay_capacity": 15,
        "batch_size": 4,
        "discount": 0.5,
    }

    def make_value(*, key: Any) -> Any:
        return values.make("vdn", env.spec, hidden_sizes=(4,), key=key)

    return paper_learner(env, make_value, **(small | arguments))


def replayed(learner: Learner, key: int = 0) -> tuple[list[float], list[float], list[float]]:
    state = learner.init(KEYS[key])
    for _ in range(learner.num_epochs):
        state, _ = learner.epoch(state)
    items = state.replay.items
    return tuple(  # type: ignore[return-value]
        np.asarray(leaf).ravel().tolist()
        for leaf in (items.observation_tm1, items.reward_t, items.discount_t)
    )


@pytest.mark.parametrize("env", [Counter(5), HostCounter(Counter(5))])
def test_every_epoch_of_the_paper_starts_new_episodes(env: Task) -> None:
    seen, _, discounts = replayed(paper(env))
    assert seen == [0, 1, 2, 3, 4, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3]
    assert discounts == [0.5] * 15


@pytest.mark.parametrize("env", [Counter(5), HostCounter(Counter(5))])
def test_without_fresh_episodes_they_follow_one_another(env: Task) -> None:
    seen, _, _ = replayed(paper(env, fresh_episodes=False))
    assert seen == [step % 5 for step in range(15)]


def test_only_random_episodes_have_a_final_step() -> None:
    seen, rewards, discounts = replayed(paper(Counter(4), final_random_step=True))
    assert seen == [0, 1, 2, 3, 4, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3]
    assert rewards == [1, 2, 3, 4, 0, 1, 2, 1, 2, 3, 4, 1, 2, 3, 4]
    assert discounts == [0.5] * 4 + [0] + [0.5] * 10


def test_the_state_has_the_announced_shape() -> None:
    learner = paper(Counter(4), final_random_step=True)
    told, state = learner.shape(), learner.init(KEYS[0])
    assert jax.tree.structure(told) == jax.tree.structure(state)
    for leaf, like in zip(jax.tree.leaves(state), jax.tree.leaves(told), strict=True):
        assert (leaf.shape, leaf.dtype) == (like.shape, like.dtype)


def test_environments_on_the_host_have_no_final_step() -> None:
    with pytest.raises(ValueError, match="final_random_step needs an environment on the device"):
        paper(HostCounter(Counter(5)), final_random_step=True)
