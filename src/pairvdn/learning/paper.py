"""The paper's schedule: a few hundred steps of one environment, then a pass over all of memory."""

from collections.abc import Callable
from typing import Any, Literal

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
    loss: Literal["squared", "huber"] = "squared",
    gradient_clip: float | None = None,
    double_q: bool = False,
    n_step: int = 1,
    exploration: Exploration | None = None,
    divergence_bound: float = 1e9,
) -> Learner:
    """Build the learner of the paper's appendix C; every default is the paper's.

    With the defaults a run has 45,000 steps and 53,925 updates.

    Args:
        env: the environment
        make_value: builds a value from a keyword `key`
        num_epochs: length of the run
        steps_per_epoch: environment steps of an epoch, before its updates
        random_steps: steps of random actions before the first epoch
        replay_capacity: number of transitions that are remembered
        batch_size: transitions of an update; an epoch passes once over all that are remembered
        optimiser: None is SGD with learning rate 1e-4
        discount: discount factor of one environment step, from 0 to 1
        target_average: share of the target network that is kept at each update (Polyak averaging)
        target_period: copy the network to its target every so many updates, instead of averaging
        loss: penalty of a temporal-difference error
        gradient_clip: largest norm of a gradient; none: no limit
        double_q: whether the network, not its target, chooses the actions of targets
        n_step: number of agent steps whose rewards a target sums before it bootstraps
        exploration: epsilon over time; None is linear from 1 to 0.05 over all epochs
        divergence_bound: training stops as diverged when a value or the loss exceeds this
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
