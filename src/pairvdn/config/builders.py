"""Builders that depend on the length of a run: schedules, optimisers and explorations."""

from collections.abc import Callable, Mapping
from typing import Any

import optax

from pairvdn.acting.exploration import Exploration, LinearEpsilon, SpreadEpsilon
from pairvdn.checks import require_above, require_within
from pairvdn.config.errors import ConfigError
from pairvdn.learning import (
    DecayingOptimiser,
    Learner,
    LinearDecay,
    paper_learner,
    parallel_learner,
    pqn_learner,
)

SCHEDULES: dict[str, Callable[..., Learner]] = {
    "paper": paper_learner,
    "parallel": parallel_learner,
    "pqn": pqn_learner,
}


def num_updates(
    build: Callable[..., Learner], num_epochs: int, arguments: Mapping[str, Any]
) -> int:
    """Gradient steps of a whole run with this schedule.

    A user's schedule provides it as an attribute, `num_updates(num_epochs, **arguments)`.
    """
    count = _NUM_UPDATES.get(build, getattr(build, "num_updates", None))
    if count is None:
        raise ConfigError(
            f"The optimiser needs the number of updates: add a function `num_updates(num_epochs, "
            f"**arguments)` to {build.__name__}, or choose an optimiser that does not need it."
        )
    return int(count(num_epochs, **arguments))


def _paper_updates(
    num_epochs: int,
    *,
    steps_per_epoch: int,
    random_steps: int,
    replay_capacity: int,
    batch_size: int,
    **_: Any,
) -> int:
    """A pass over the replay after each epoch: while it grows, then when it is full."""
    first, step, batch = random_steps + steps_per_epoch, max(1, steps_per_epoch), max(1, batch_size)
    growing = min(num_epochs, max(0, -((first - replay_capacity) // step)))
    full = (num_epochs - growing) * (replay_capacity // batch)
    return _sum_of_floors(growing, batch, step, first) + full


def _sum_of_floors(count: int, divisor: int, slope: int, start: int) -> int:
    """The sum of (slope * i + start) // divisor for i < count, in as many steps as Euclid's."""
    total, sign = 0, 1
    while count > 0:
        total += sign * (count * (count - 1) // 2 * (slope // divisor) + count * (start // divisor))
        slope, start = slope % divisor, start % divisor
        rows = (slope * (count - 1) + start) // divisor
        if slope == 0 or rows == 0:
            break
        # Count the points under the line by rows instead of columns.
        total += sign * rows * (count - 1)
        sign = -sign
        count, divisor, slope, start = rows, slope, divisor, divisor - start - 1
    return total


def _parallel_updates(
    num_epochs: int, *, rounds_per_epoch: int, updates_per_round: int, **_: Any
) -> int:
    return num_epochs * rounds_per_epoch * updates_per_round


def _pqn_updates(
    num_epochs: int,
    *,
    rounds_per_epoch: int,
    num_envs: int,
    agent_steps_per_round: int,
    passes_per_round: int,
    batch_size: int,
    **_: Any,
) -> int:
    batches = num_envs * agent_steps_per_round // max(1, batch_size)
    return num_epochs * rounds_per_epoch * passes_per_round * batches


_NUM_UPDATES: dict[Callable[..., Learner], Callable[..., int]] = {
    paper_learner: _paper_updates,
    parallel_learner: _parallel_updates,
    pqn_learner: _pqn_updates,
}


def adam(
    learning_rate: float = 5e-4,
    decay_from: float = 0.3,
    decay_to: float = 1.0,
    *,
    num_updates: int,
) -> optax.GradientTransformation:
    """Adam with a learning rate that is constant at first and then falls linearly.

    Args:
        learning_rate: step size at the start of the run
        decay_from: share of the run after which the learning rate falls, from 0 to 1
        decay_to: share of the learning rate that is left at the end of the run; 1: no decay
        num_updates: number of updates of the whole run
    """
    decay = _decay(learning_rate, decay_from, decay_to, num_updates)
    return DecayingOptimiser(optax.scale_by_adam(), decay)


def radam(
    learning_rate: float = 5e-4,
    decay_from: float = 0.0,
    decay_to: float = 1.0,
    *,
    num_updates: int,
) -> optax.GradientTransformation:
    """RAdam, Adam with a rectified variance (Liu et al., arXiv 1908.03265); with the same decay.

    Args:
        learning_rate: step size at the start of the run
        decay_from: share of the run after which the learning rate falls, from 0 to 1
        decay_to: share of the learning rate that is left at the end of the run; 1: no decay
        num_updates: number of updates of the whole run
    """
    decay = _decay(learning_rate, decay_from, decay_to, num_updates)
    return DecayingOptimiser(optax.scale_by_radam(), decay)


def sgd(
    learning_rate: float = 1e-4,
    decay_from: float = 0.3,
    decay_to: float = 1.0,
    *,
    num_updates: int,
) -> optax.GradientTransformation:
    """Plain stochastic gradient descent, with the decay of `adam`.

    Args:
        learning_rate: step size at the start of the run
        decay_from: share of the run after which the learning rate falls, from 0 to 1
        decay_to: share of the learning rate that is left at the end of the run; 1: no decay
        num_updates: number of updates of the whole run
    """
    decay = _decay(learning_rate, decay_from, decay_to, num_updates)
    return DecayingOptimiser(optax.identity(), decay)


def _decay(rate: float, decay_from: float, decay_to: float, num_updates: int) -> LinearDecay:
    require_above(0, learning_rate=rate)
    require_within(0, 1, decay_from=decay_from, decay_to=decay_to)
    start = int(num_updates * decay_from)
    return LinearDecay(rate, rate * decay_to, start, max(1, num_updates - start))


OPTIMISERS: dict[str, Callable[..., optax.GradientTransformation]] = {
    "adam": adam,
    "radam": radam,
    "sgd": sgd,
}


def linear_epsilon(
    start: float = 1.0,
    end: float = 0.05,
    epochs: int | float | None = None,
    *,
    answered: bool = False,
    num_epochs: int,
) -> Exploration:
    """The paper's exploration: epsilon falls linearly from epoch to epoch.

    Args:
        start: epsilon, the probability of a random action, in the first epoch
        end: epsilon at the end of the schedule and after it
        epochs: length of the schedule in epochs, or as a share of the run (0.25); none: the run
        answered: the other agents take the best joint action that contains the random ones
        num_epochs: length of the run
    """
    if epochs is None:
        epochs = num_epochs
    elif isinstance(epochs, float):
        require_within(0, 1, epochs=epochs)
        epochs = max(1, round(epochs * num_epochs))
    return LinearEpsilon(start, end, epochs, answered=answered)


EXPLORATIONS: dict[str, Callable[..., Exploration]] = {
    "linear": linear_epsilon,
    "spread": SpreadEpsilon,
}
