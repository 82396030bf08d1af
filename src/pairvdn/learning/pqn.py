"""The schedule of PQN: no replay and no target network."""

from collections.abc import Callable
from typing import Any, Literal

import optax

from pairvdn.acting.exploration import Exploration, LinearEpsilon
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Task
from pairvdn.learning.learner import Learner
from pairvdn.learning.losses import ErrorRule
from pairvdn.learning.recorders import MOST_STEPS, Sequences
from pairvdn.learning.replay import Passes
from pairvdn.learning.schedules import collector_for, has_memory
from pairvdn.learning.sequence_losses import BlockLoss, ReturnRule
from pairvdn.learning.updater import Updater
from pairvdn.values import Value

TRACE_DECAY = 0.65  # the authors' for most tasks


def pqn_learner(
    env: Task,
    make_value: Callable[..., Value[Any]],
    *,
    num_epochs: int,
    rounds_per_epoch: int = 10,
    num_envs: int = 128,
    agent_steps_per_round: int = 32,
    passes_per_round: int = 2,
    batch_size: int = 512,
    action_repeat: int = 1,
    optimiser: optax.GradientTransformation | None = None,
    discount: float = 0.99,
    trace_decay: float | None = None,
    burn_in: int = 0,
    loss: Literal["squared", "huber"] = "squared",
    huber_delta: float = 1.0,
    rescale_values: bool = False,
    gradient_clip: float | None = 10.0,
    exploration: Exploration | None = None,
    divergence_bound: float = 1e9,
) -> Learner:
    """Build a learner without replay and target network (PQN, Gallici et al., arXiv 2407.04811).

    In a round every environment takes `agent_steps_per_round` agent steps. Their λ-returns are
    computed once, with the value at hand; then follow `passes_per_round` shuffled passes over all
    steps, or over all environments if the value has memory. The authors normalise every layer:
    build values with `layer_norm`.

    Args:
        env: the environment
        make_value: builds a value from a keyword `key`
        num_epochs: length of the run
        rounds_per_epoch: rounds of acting and updates in an epoch
        num_envs: environments stepped in parallel
        agent_steps_per_round: agent steps of every environment in a round
        passes_per_round: shuffled passes over the agent steps of a round
        batch_size: agent steps of an update; for values with memory, a multiple of
            agent_steps_per_round
        action_repeat: environment steps of an agent step, for which each action is repeated
        optimiser: RAdam with learning rate 5e-4 if None
        discount: discount factor of one environment step, from 0 to 1
        trace_decay: decay λ of the returns, from 0 (one step) to 1 (the whole block); none: 0.65
        burn_in: agent steps before each block that only refresh the memory of a value
        loss: penalty of a temporal-difference error
        huber_delta: error from which on the Huber loss is linear
        rescale_values: whether to learn h(Q), about the root of a large Q, in place of Q; for
            rewards of very different sizes
        gradient_clip: largest norm of a gradient; none: no limit
        exploration: epsilon over time; linear from 1 to 0.05 over all epochs if None
        divergence_bound: training stops as diverged when a value or the loss exceeds this
    """
    require_at_least(1, batch_size=batch_size, num_envs=num_envs)
    require_within(1, MOST_STEPS, agent_steps_per_round=agent_steps_per_round)
    remembers = has_memory(make_value)
    if remembers and batch_size % agent_steps_per_round:
        raise ValueError(
            f"batch_size must be a multiple of agent_steps_per_round, {agent_steps_per_round}, for "
            f"values with memory, not {batch_size}."
        )
    block = num_envs * agent_steps_per_round
    if batch_size > block:
        raise ValueError(
            f"batch_size must be at most num_envs x agent_steps_per_round = {block}, "
            f"not {batch_size}."
        )
    burn_in = burn_in if remembers else 0
    return Learner(
        collector_for(
            env,
            num_envs=num_envs,
            action_repeat=action_repeat,
            discount=discount,
            recorder=Sequences(agent_steps_per_round, burn_in),
        ),
        Updater(
            make_value,
            BlockLoss(
                env,
                ErrorRule(loss, huber_delta, rescale_values),
                ReturnRule(trace_decay=TRACE_DECAY if trace_decay is None else trace_decay),
                burn_in,
            ),
            optimiser=optax.radam(5e-4) if optimiser is None else optimiser,
            gradient_clip=gradient_clip,
            target_average=None,
            divergence_bound=divergence_bound,
        ),
        exploration=LinearEpsilon(epochs=num_epochs) if exploration is None else exploration,
        minibatches=Passes(
            batch_size // agent_steps_per_round if remembers else batch_size, passes_per_round
        ),
        num_epochs=num_epochs,
        rounds_per_epoch=rounds_per_epoch,
        agent_steps_per_round=agent_steps_per_round,
        random_agent_steps=0,
        replay_capacity=None,
    )
