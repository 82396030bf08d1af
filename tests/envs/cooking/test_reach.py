"""The view `reach`: what an agent's actions would touch."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn import envs

LEFT, RIGHT, DOWN, UP = 1, 2, 3, 4
PLACED = {"COUNT": 1, "MAX_COUNT": 1}
LEVEL = {
    "LEVEL_LAYOUT": "-----\n-   -\n-   -\n-   -\n-----",
    "STATIC_OBJECTS": [
        {"Cutboard": {**PLACED, "X_POSITION": [0], "Y_POSITION": [1]}},
        {"Deliversquare": {**PLACED, "X_POSITION": [4], "Y_POSITION": [2]}},
    ],
    "DYNAMIC_OBJECTS": [
        {"Plate": {**PLACED, "X_POSITION": [0], "Y_POSITION": [2]}},
        {"Tomato": {**PLACED, "X_POSITION": [1], "Y_POSITION": [0]}},
    ],
    "AGENTS": [
        {**PLACED, "X_POSITION": [1], "Y_POSITION": [1]},
        {**PLACED, "X_POSITION": [2], "Y_POSITION": [1]},
    ],
}


@pytest.fixture
def env(tmp_path):
    path = tmp_path / "level.json"
    path.write_text(json.dumps(LEVEL))
    return envs.make(
        "cooking", level=str(path), recipes=("TomatoSalad", "TomatoSalad"), view="reach"
    )


def told_of(env, told, agent):
    """The names of the numbers that are not 0, without those of floor and of plain counters."""
    numbers = zip(env.observation_names, np.asarray(told.observation[agent]), strict=True)
    seen = {name for name, number in numbers if number != 0 and ", " not in name}
    return {name for name in seen if not name.endswith(("floor", "counter"))}


def test_an_agent_is_told_what_it_would_touch_and_what_is_held(env):
    """Agent 0 takes the tomato, chops it, and puts it on the plate."""
    state, told = jax.jit(env.reset)(jax.random.key(0))
    assert told_of(env, told, 0) == {
        *("left: cutboard", "right: agent", "up: Tomato 0"),
        *("itself in column 1", "itself in row 1"),
        *("agent 1 further in column 2", "agent 1 further in row 1"),
    }
    step = jax.jit(env.step)
    news = []
    for action in (UP, LEFT, LEFT, LEFT, DOWN, LEFT):
        before = told_of(env, told, 0)
        state, told = step(jax.random.key(0), state, jnp.array([action, 0], jnp.int32))
        news.append(told_of(env, told, 0) - before)
    in_hand = {"itself holds Tomato 0"}
    assert news == [
        in_hand,
        {"left: Tomato 0", "Tomato 0 on cutboard"},
        {"Tomato 0 chopped"},
        in_hand,
        {"itself in row 2", "left: Plate 0"},
        {"left: Tomato 0", "Tomato 0 on Plate 0"},
    ]
    assert "agent 1 further holds Tomato 0" not in told_of(env, told, 1)
    ways = dict(zip(env.observation_names, np.asarray(told.observation[1]), strict=True))
    assert ways["Plate 0, x"] == pytest.approx(-2 / 5)
    assert ways["Deliversquare 0, y"] == pytest.approx(1 / 5)


def test_what_a_held_plate_carries_is_held(env):
    """As above, then the plate is lifted: the other agent is told of both."""
    state, told = jax.jit(env.reset)(jax.random.key(0))
    step = jax.jit(env.step)
    for action in (UP, LEFT, LEFT, LEFT, DOWN, LEFT, LEFT):
        state, told = step(jax.random.key(0), state, jnp.array([action, 0], jnp.int32))
    held = {name for name in told_of(env, told, 1) if "holds" in name}
    assert held == {"agent 1 further holds Plate 0", "agent 1 further holds Tomato 0"}


def test_it_is_the_same_kitchen():
    """Only what agents are told differs: states, rewards and the global state are the same."""
    original, reach = (envs.make("cooking", variant="easy", view=v) for v in ("original", "reach"))
    actions = jax.random.randint(jax.random.key(1), (50, 2), 0, 5)

    def play(env):
        state, _ = env.reset(jax.random.key(0))
        return jax.lax.scan(lambda s, a: env.step(jax.random.key(0), s, a), state, actions)

    (state, told), (other_state, other) = jax.jit(lambda: (play(original), play(reach)))()
    jax.tree.map(np.testing.assert_array_equal, state, other_state)
    np.testing.assert_array_equal(told.state, other.state)
    np.testing.assert_array_equal(told.reward, other.reward)


@pytest.mark.parametrize(("variant", "size"), [("solvable", 174), ("coop", 270)])
def test_every_number_has_a_name_of_its_own(variant, size):
    env = envs.make("cooking", variant=variant, view="reach")
    assert len(env.observation_names) == len(set(env.observation_names)) == size
    _, told = jax.eval_shape(env.reset, jax.random.key(0))
    assert told.observation.shape == (env.num_agents, size)
