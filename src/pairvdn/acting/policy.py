"""Values as policies: what the agents do in a step that they see."""

from typing import Any

from jaxtyping import Array, Float, Int32

from pairvdn.acting.exploration import explore
from pairvdn.envs import HasPositions, Task
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value


def tables(
    env: Task,
    value: Value[Any],
    observation: Float[Array, "n o"],
    state: Float[Array, " s"],
) -> Any:
    """Run the value's networks, with the agents' positions where the environment has them."""
    positions = env.positions(observation, state) if isinstance(env, HasPositions) else None
    return value.tables_of(observation, state, positions)


def greedy_actions(env: Task, value: Value[Any], timestep: TimeStep) -> Int32[Array, " n"]:
    """The joint action that the value thinks best."""
    actions, _ = value.greedy(
        tables(env, value, timestep.observation, timestep.state), timestep.mask
    )
    return actions


def epsilon_greedy_actions(
    env: Task,
    value: Value[Any],
    key: PRNGKey,
    timestep: TimeStep,
    epsilon: Float[Array, ""],
) -> Int32[Array, " n"]:
    """The best joint action, in which each agent may try something else."""
    return explore(key, greedy_actions(env, value, timestep), timestep.mask, epsilon)
