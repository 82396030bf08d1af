"""The parallel schedule: many environments, some updates every few agent steps."""

from collections.abc import Callable
from typing import Any, Literal

import optax

from pairvdn.acting.exploration import Exploration, SpreadEpsilon
from pairvdn.envs import Task
from pairvdn.learning.collectors import collector_for
from pairvdn.learning.learner import Learner
from pairvdn.learning.minibatches import RandomBatches
from pairvdn.learning.update import Updater
from pairvdn.values import Value


def parallel_learner(
    env: Task,
    make_value: Callable[..., Value[Any]],
    *,
    num_epochs: int,
    rounds_per_epoch: int = 50,
    num_envs: int = 128,
    agent_steps_per_round: int = 5,
    updates_per_round: int = 6,
    random_agent_steps: int = 50,
    replay_capacity: int = 256_000,
    batch_size: int = 512,
    action_repeat: int = 1,
    optimiser: optax.GradientTransformation | None = None,
    discount: float = 0.99,
    target_average: float = 0.99,
    target_period: int | None = None,
    loss: Literal["squared", "huber"] = "huber",
    gradient_clip: float | None = 10.0,
    double_q: bool = True,
    n_step: int = 5,
    exploration: Exploration | None = None,
    divergence_bound: float = 1e9,
) -> Learner:
    """Build a learner that alternates between acting in many environments and updates.

    Args:
        env: the environment
        make_value: builds a value from a keyword `key`
        num_epochs: length of the run
        rounds_per_epoch: rounds of acting and updates in an epoch
        num_envs: environments that are stepped in parallel
        agent_steps_per_round: agent steps of every environment in a round
        updates_per_round: updates after the agent steps of a round
        random_agent_steps: agent steps at random, in every environment, before the first epoch
        replay_capacity: number of agent steps, of all environments, that are remembered
        batch_size: agent steps of an update
        action_repeat: environment steps of an agent step, for which each action is repeated
        optimiser: None is Adam with learning rate 5e-4
        discount: discount factor of one environment step, from 0 to 1
        target_average: share of the target network that is kept at each update (Polyak averaging)
        target_period: copy the network to its target every so many updates, instead of averaging
        loss: penalty of a temporal-difference error
        gradient_clip: largest norm of a gradient; none: no limit
        double_q: whether the network, not its target, chooses the actions of targets
        n_step: number of agent steps whose rewards a target sums before it bootstraps
        exploration: epsilon over time; None is a different constant in each environment
        divergence_bound: training stops as diverged when a value or the loss exceeds this
    """
    return Learner(
        collector_for(
            env, num_envs=num_envs, action_repeat=action_repeat, n_step=n_step, discount=discount
        ),
        Updater(
            env,
            make_value,
            optimiser=optax.adam(5e-4) if optimiser is None else optimiser,
            loss=loss,
            gradient_clip=gradient_clip,
            double_q=double_q,
            target_average=target_average,
            target_period=target_period,
            divergence_bound=divergence_bound,
        ),
        exploration=SpreadEpsilon() if exploration is None else exploration,
        minibatches=RandomBatches(batch_size, updates_per_round),
        num_epochs=num_epochs,
        rounds_per_epoch=rounds_per_epoch,
        agent_steps_per_round=agent_steps_per_round,
        random_agent_steps=random_agent_steps,
        replay_capacity=replay_capacity,
    )
