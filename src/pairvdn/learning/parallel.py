"""The parallel schedule: many environments, some updates every few agent steps."""

from collections.abc import Callable
from typing import Any

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
    loss: str = "huber",
    gradient_clip: float | None = 10.0,
    double_q: bool = True,
    n_step: int = 5,
    exploration: Exploration | None = None,
    divergence_bound: float = 1e9,
) -> Learner:
    """Build a learner of `num_envs` environments that does `updates_per_round` updates a round.

    A round is `agent_steps_per_round` decisions in every environment; a decision is an action held
    `action_repeat` steps. `discount` counts per environment step, `n_step` in decisions,
    `replay_capacity` in decisions of all environments, `random_agent_steps` per environment.
    `make_value` builds a value from a keyword `key`. `optimiser` None is Adam with 5e-4,
    `exploration` None a different epsilon in each environment.
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
