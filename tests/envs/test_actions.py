"""Actions that do not exist are refused, and act as the no-op where values are not known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from unchecked_types import unchecked_types

from pairvdn import envs

# Each environment with its no-op; a one-step game has none, and takes the first action instead.
NO_OPS = {
    "aloha": 0,
    "box-jump": 0,
    "cooking": 0,
    "gather": 4,
    "predator-prey": 4,
    "ring-game": 0,
    "sensor": 8,
    "simple-spread": 0,
}
KEY = jax.random.key(0)


@pytest.mark.parametrize("name", ["gather", "ring-game"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda actions: actions.astype(float), "must be whole numbers, not float"),
        (lambda actions: actions + 99, "must be from 0 to"),
        (lambda actions: actions - 99, "must be from 0 to"),
        (lambda actions: actions[1:], r"must have shape \(num_agents\)"),
        (lambda actions: actions[None], r"must have shape \(num_agents\)"),
        (lambda actions: [[0], [0, 1]], "must be whole numbers"),
        (lambda actions: "north", r"must have shape \(num_agents\)"),
        (lambda actions: 0, r"must have shape \(num_agents\)"),
    ],
)
def test_they_are_refused_with_one_message(name: str, change, says: str) -> None:
    env = envs.make(name)
    state, _ = env.reset(KEY)
    with unchecked_types(), pytest.raises(ValueError, match=f"actions {says}"):
        env.step(KEY, state, change(np.zeros(env.num_agents, int)))


def test_lists_and_other_integers_are_taken() -> None:
    env = envs.make("gather")
    state, _ = env.reset(KEY)
    expected = env.step(KEY, state, jnp.array([0, 1, 2, 3, 4], jnp.int32))
    with unchecked_types():
        for actions in (
            [0, 1, 2, 3, 4],
            (0, 1, 2, 3, 4),
            np.arange(5),
            np.arange(5, dtype=np.uint8),
        ):
            jax.tree.map(np.testing.assert_array_equal, env.step(KEY, state, actions), expected)


@pytest.mark.parametrize("name", NO_OPS)
def test_inside_jit_they_act_as_the_no_op(name: str) -> None:
    env = envs.make(name)
    state, _ = env.reset(KEY)
    step = jax.jit(env.step)
    actions = jnp.zeros(env.num_agents, jnp.int32)
    expected = step(KEY, state, actions.at[0].set(NO_OPS[name]))
    for outside in (env.num_actions, -1, 2**31 - 1):
        done = step(KEY, state, actions.at[0].set(outside))
        if name == "ring-game":  # its state is the joint action
            expected = (done[0], expected[1])
        jax.tree.map(np.testing.assert_array_equal, done, expected)


def test_the_shape_is_checked_inside_jit() -> None:
    env = envs.make("gather")
    state, _ = env.reset(KEY)
    with unchecked_types(), pytest.raises(ValueError, match="actions must have shape"):
        jax.jit(env.step)(KEY, state, jnp.zeros(3, jnp.int32))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"nonsense": 1}, "gather has no argument 'nonsense'; known are"),
        ({"num_agnets": 1}, "did you mean 'num_agents'"),
        ({"num_agents": "5"}, "num_agents must be a whole number, not '5'"),
        ({"num_agents": 10**400}, "num_agents must be at most 1000, not 1000"),
        ({"num_agents": 2**31 - 1}, "num_agents must be at most 1000"),
        ({"approach_reward": 10**400}, "approach_reward must be a finite number"),
        ({"max_steps": 2**32}, "max_steps must be at most"),
        ({"max_steps": 2**31 - 1}, "max_steps must be at most 1000000"),
        ({"max_steps": None}, "max_steps must be a whole number, not None"),
    ],
)
def test_odd_arguments_are_one_kind_of_error(arguments: dict, says: str) -> None:
    with unchecked_types(), pytest.raises(ValueError, match=says):
        envs.make("gather", **arguments)


def test_a_large_environment_is_refused_before_it_is_played() -> None:
    with pytest.raises(ValueError, match="simple-spread is too large: 1000 agents observe"):
        envs.make("simple-spread", num_agents=1000)
