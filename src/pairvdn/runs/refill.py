"""Refilling the replay of a finished run, which keeps its learner but not its replay."""

import dataclasses
import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int32

from pairvdn.learning import Learner, LearnerState, Minibatches
from pairvdn.runs.training import Training
from pairvdn.types import PRNGKey


class NoUpdates(Minibatches):
    """Collecting without learning."""

    batch_size: int = eqx.field(default=1, static=True)

    def rows(
        self, key: PRNGKey, size: Int32[Array, ""], capacity: int
    ) -> tuple[Int32[Array, "u b"], Int32[Array, ""]]:
        """Rows for one update, which is not made."""
        return jnp.zeros((1, self.batch_size), jnp.int32), jnp.int32(0)


def acting_only(learner: Learner) -> Learner:
    """The learner, whose epochs only act and store."""
    return dataclasses.replace(learner, minibatches=NoUpdates(learner.minibatches.batch_size))


def rows_after(learner: Learner, epochs: int) -> int:
    """The rows that the replay holds after so many epochs; 0 without a replay."""
    agent_steps = learner.random_agent_steps + epochs * _agent_steps(learner)
    return min(learner.replay_capacity or 0, learner.collector.num_items(agent_steps))


def refill(training: Training, state: LearnerState, rows: int) -> LearnerState:
    """Act with the policy of the state's epoch until the replay has so many rows.

    `training` is that of an `acting_only` learner. Environment steps count, epochs do not.
    """
    each = training.learner.collector.num_items(_agent_steps(training.learner))
    training.compile(state)
    for _ in range(math.ceil(rows / each)):
        state, _ = training.epoch(state)
        state = eqx.tree_at(lambda s: s.epoch, state, state.epoch - 1)
    return state


def _agent_steps(learner: Learner) -> int:
    """Agent steps of one environment in an epoch."""
    return learner.rounds_per_epoch * learner.agent_steps_per_round
