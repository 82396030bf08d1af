"""The paper's schedule: a few hundred steps of one environment, then a pass over all of memory."""

from collections.abc import Callable
from typing import Any

import optax

from pairvdn.acting.exploration import Exploration, LinearEpsilon
from pairvdn.envs import Task
from pairvdn.learning.collectors import collector_for
from pairvdn.learning.learner import Learner
from pairvdn.learning.minibatches import WholePass
from pairvdn.learning.update import Updater
from pairvdn.values import Value


def paper_learner(
    env: Task,
    make_value: Callable[..., Value[Any]],
    *,
    num_epochs: int = 100,
    steps_per_epoch: int = 400,
    random_steps: int = 5_000,
    replay_capacity: int = 20_000,
    batch_size: int = 32,
    optimiser: optax.GradientTransformation | None = None,
    discount: float = 0.99,
    target_average: float = 0.99,
    target_period: int | None = None,
    loss: str = "squared",
    gradient_clip: float | None = None,
    double_q: bool = False,
    n_step: int = 1,
    exploration: Exploration | None = None,
    divergence_bound: float = 1e9,
) -> Learner:
    """Build the learner of the paper's appendix C; every default is the paper's.

    `make_value` builds a value from a keyword `key`. `optimiser` None is SGD with 1e-4,
    `exploration` None is epsilon from 1 to 0.05, linear over all epochs. With the defaults that is
    45,000 steps and 53,925 updates.
    """
    return Learner(
        collector_for(env, n_step=n_step, discount=discount),
        Updater(
            env,
            make_value,
            optimiser=optax.sgd(1e-4) if optimiser is None else optimiser,
            loss=loss,
            gradient_clip=gradient_clip,
            double_q=double_q,
            target_average=target_average,
            target_period=target_period,
            divergence_bound=divergence_bound,
        ),
        exploration=LinearEpsilon(epochs=num_epochs) if exploration is None else exploration,
        minibatches=WholePass(batch_size),
        num_epochs=num_epochs,
        rounds_per_epoch=1,
        agent_steps_per_round=steps_per_epoch,
        random_agent_steps=random_steps,
        replay_capacity=replay_capacity,
    )
