"""The schedules of learning: the paper's, many environments in parallel, and PQN (`pqn.py`).

| | `paper_learner` | `parallel_learner` | `pqn_learner` |
|---|---|---|---|
| environments | 1 | many | many |
| a round | a few hundred steps, then one pass over the whole replay | a few agent steps, then a few random batches | some agent steps, then a few passes over them |
| memory | all of it in the replay | transitions, or sequences for recurrent values | none |
| exploration | epsilon falls from epoch to epoch | a different constant epsilon in each environment | epsilon falls from epoch to epoch |
"""  # noqa: E501

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import optax

from pairvdn.acting.exploration import Exploration, LinearEpsilon, SpreadEpsilon
from pairvdn.checks import require_within
from pairvdn.envs import Environment, HostEnvironment, Task
from pairvdn.learning.collector import Collector
from pairvdn.learning.collectors import Collects
from pairvdn.learning.final_step import WithFinalStep
from pairvdn.learning.host_collector import HostCollector
from pairvdn.learning.learner import Learner
from pairvdn.learning.losses import ErrorRule, Loss, TransitionLoss
from pairvdn.learning.recorders import MOST_STEPS, Recorder, Sequences, Windows
from pairvdn.learning.replay import RandomBatches, WholePass
from pairvdn.learning.sequence_losses import ReturnRule, SequenceLoss
from pairvdn.learning.updater import Updater
from pairvdn.values import ReadsMask, Value


def collector_for(env: Task, **arguments: Any) -> Collects[Any]:
    """A collector of copies of `env`, on the device or on the host."""
    if isinstance(env, HostEnvironment):
        return HostCollector(env, **arguments)
    if isinstance(env, Environment):
        return Collector(env, **arguments)
    raise ValueError(
        f"{type(env).__name__} is neither an Environment, which is stepped on the device, nor a "
        "HostEnvironment; from_pettingzoo turns an environment of PettingZoo into the latter."
    )


def has_memory(make_value: Callable[..., Value[Any]]) -> bool:
    """Whether the values that `make_value` builds remember earlier steps of an episode."""
    return _shape(make_value).encoder.has_memory


def windows(make_value: Callable[..., Value[Any]], n_step: int) -> Windows:
    """The recorder of transitions for the values that `make_value` builds."""
    return Windows(n_step, keeps_mask=isinstance(_shape(make_value), ReadsMask))


def _shape(make_value: Callable[..., Value[Any]]) -> Value[Any]:
    shape: Value[Any] = eqx.filter_eval_shape(make_value, key=jax.random.PRNGKey(0))
    return shape


def paper_learner(
    env: Task,
    make_value: Callable[..., Value[Any]],
    *,
    num_epochs: int = 100,
    steps_per_epoch: int = 400,
    random_steps: int = 5_000,
    fresh_episodes: bool = True,
    final_random_step: bool = False,
    replay_capacity: int = 20_000,
    batch_size: int = 32,
    optimiser: optax.GradientTransformation | None = None,
    discount: float = 0.99,
    target_average: float = 0.99,
    target_period: int | None = None,
    loss: Literal["squared", "huber"] = "squared",
    huber_delta: float = 1.0,
    rescale_values: bool = False,
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
        fresh_episodes: whether every epoch starts new episodes
        final_random_step: whether episodes of the random phase have one step more, which ends them
            without reward, as in the authors' code for Box Jump
        replay_capacity: transitions in the replay; the oldest are overwritten
        batch_size: transitions of an update; an epoch passes once over the whole replay
        optimiser: SGD with learning rate 1e-4 if None
        discount: discount factor of one environment step, from 0 to 1
        target_average: share of the target network that is kept at each update (Polyak averaging)
        target_period: updates between copies of the network to its target; none: averaging
        loss: penalty of a temporal-difference error
        huber_delta: error from which on the Huber loss is linear
        rescale_values: whether to learn h(Q), about the root of a large Q, in place of Q; for
            rewards of very different sizes
        gradient_clip: largest norm of a gradient; none: no limit
        double_q: whether the network, not its target, chooses the actions of targets
        n_step: number of agent steps whose rewards a target sums before it bootstraps
        exploration: epsilon over time; linear from 1 to 0.05 over all epochs if None
        divergence_bound: training stops as diverged when a value or the loss exceeds this
    """
    if has_memory(make_value):
        raise ValueError(
            "The paper's schedule trains values without memory; use the schedule 'parallel' or "
            "'pqn', or an encoder without memory."
        )
    recorder = windows(make_value, n_step)
    collector = collector_for(env, recorder=recorder, discount=discount)
    random_collector = None
    if final_random_step:
        if not isinstance(env, Environment):
            raise ValueError("final_random_step needs an environment on the device.")
        random_collector = Collector(WithFinalStep(env), recorder=recorder, discount=discount)
    return Learner(
        collector,
        Updater(
            make_value,
            TransitionLoss(env, ErrorRule(loss, huber_delta, rescale_values), double_q),
            optimiser=optax.sgd(1e-4) if optimiser is None else optimiser,
            gradient_clip=gradient_clip,
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
        fresh_episodes=fresh_episodes,
        random_collector=random_collector,
    )


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
    huber_delta: float = 1.0,
    rescale_values: bool = False,
    gradient_clip: float | None = 10.0,
    double_q: bool = True,
    n_step: int = 5,
    trace_decay: float | None = None,
    sequence_length: int | None = None,
    burn_in: int = 0,
    exploration: Exploration | None = None,
    divergence_bound: float = 1e9,
) -> Learner:
    """Build a learner that alternates between acting in many environments and updates.

    Values with memory are updated on sequences, other values on single transitions.

    Args:
        env: the environment
        make_value: builds a value from a keyword `key`
        num_epochs: length of the run
        rounds_per_epoch: rounds of acting and updates in an epoch
        num_envs: environments stepped in parallel
        agent_steps_per_round: agent steps of every environment in a round
        updates_per_round: updates after the agent steps of a round
        random_agent_steps: agent steps at random, in every environment, before the first epoch;
            with sequences, rounded up to whole ones
        replay_capacity: agent steps of all environments in the replay; the oldest are overwritten
        batch_size: agent steps of an update
        action_repeat: environment steps of an agent step, for which each action is repeated
        optimiser: Adam with learning rate 5e-4 if None
        discount: discount factor of one environment step, from 0 to 1
        target_average: share of the target network that is kept at each update (Polyak averaging)
        target_period: updates between copies of the network to its target; none: averaging
        loss: penalty of a temporal-difference error
        huber_delta: error from which on the Huber loss is linear
        rescale_values: whether to learn h(Q), about the root of a large Q, in place of Q; for
            rewards of very different sizes
        gradient_clip: largest norm of a gradient; none: no limit
        double_q: whether the network, not its target, chooses the actions of targets
        n_step: number of agent steps whose rewards a target sums before it bootstraps
        trace_decay: decay λ of the returns inside a sequence, from 0 to 1; none: n-step returns
        sequence_length: agent steps that are learned in a sequence, for values with memory; must
            divide agent_steps_per_round; none: agent_steps_per_round
        burn_in: agent steps before each sequence that only refresh the memory
        exploration: epsilon over time; a different constant in each environment if None
        divergence_bound: training stops as diverged when a value or the loss exceeds this
    """
    rule = ErrorRule(loss, huber_delta, rescale_values)
    recorder: Recorder[Any, Any] = windows(make_value, n_step)
    criterion: Loss[Any] = TransitionLoss(env, rule, double_q)
    if has_memory(make_value):
        require_within(1, MOST_STEPS, agent_steps_per_round=agent_steps_per_round)
        length = agent_steps_per_round if sequence_length is None else sequence_length
        recorder = Sequences(length, burn_in)
        criterion = SequenceLoss(env, rule, ReturnRule(n_step, trace_decay), burn_in, double_q)
        if agent_steps_per_round % length:
            raise ValueError(
                f"agent_steps_per_round must be a multiple of sequence_length, {length}, "
                f"not {agent_steps_per_round}."
            )
    elif trace_decay is not None:
        raise ValueError(
            "trace_decay needs sequences, which only values with memory have; use n_step, or the "
            "schedule 'pqn'."
        )
    stride = recorder.stride
    return Learner(
        collector_for(
            env,
            num_envs=num_envs,
            action_repeat=action_repeat,
            discount=discount,
            recorder=recorder,
        ),
        Updater(
            make_value,
            criterion,
            optimiser=optax.adam(5e-4) if optimiser is None else optimiser,
            gradient_clip=gradient_clip,
            target_average=target_average,
            target_period=target_period,
            divergence_bound=divergence_bound,
        ),
        exploration=SpreadEpsilon() if exploration is None else exploration,
        minibatches=RandomBatches(-(-batch_size // stride), updates_per_round),
        num_epochs=num_epochs,
        rounds_per_epoch=rounds_per_epoch,
        agent_steps_per_round=agent_steps_per_round,
        random_agent_steps=-(-random_agent_steps // stride) * stride,
        replay_capacity=replay_capacity // stride,
    )
