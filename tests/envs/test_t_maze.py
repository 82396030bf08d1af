"""The team T-maze: what is seen when, who wins, and the bounds of its page."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import assert_mean, policy_returns, random_returns

from pairvdn import envs

GO_ON, LEFT, RIGHT = range(3)


def at_junction(env, seed):
    """The state in which the agents must turn, and the cue."""
    state, told = env.reset(jax.random.key(seed))
    cue = int(told.observation[0, 0])
    for _ in range(env.corridor):
        assert told.mask.tolist() == [[True, False, False]] * env.num_agents
        state, told = env.step(jax.random.key(0), state, jnp.full(env.num_agents, LEFT))  # masked
        assert float(told.reward) == 0
        assert not told.terminated
    return state, told, cue


def test_the_cue_is_seen_once_and_by_all():
    env = envs.make("t-maze", num_agents=3, corridor=4)
    state, told = env.reset(jax.random.key(0))
    assert set(np.abs(told.observation[:, 0]).tolist()) == {1.0}
    for distance in (0.75, 0.5, 0.25, 0.0):
        state, told = env.step(jax.random.key(0), state, jnp.zeros(3, jnp.int32))
        assert told.observation.tolist() == [[0.0, distance]] * 3
        assert told.state.tolist() == [0.0, distance]
    assert told.mask.all()


def test_both_cues_come_up():
    keys = jax.random.split(jax.random.key(0), 400)
    cues = jax.vmap(lambda key: envs.make("t-maze").reset(key)[0].cue)(keys)
    assert_mean(np.asarray(cues), 0.0)
    assert set(cues.tolist()) == {-1, 1}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("turns", "wins"),
    [("cc", True), ("cw", False), ("ww", False), ("cg", False), ("gw", False)],
)
def test_all_must_turn_the_cued_way_in_the_same_step(seed, turns, wins):
    env = envs.make("t-maze", waiting=1)
    state, _, cue = at_junction(env, seed)
    way = {"c": RIGHT if cue > 0 else LEFT, "w": LEFT if cue > 0 else RIGHT, "g": GO_ON}
    actions = jnp.array([way[turn] for turn in turns])
    _, told = env.step(jax.random.key(0), state, actions)
    assert (float(told.reward), bool(told.terminated)) == (1.0 if wins else -1.0, True)


def test_waiting_is_possible_for_so_many_steps():
    env = envs.make("t-maze", waiting=2)
    state, _, _ = at_junction(env, 0)
    for step in range(3):
        state, told = env.step(jax.random.key(0), state, jnp.zeros(2, jnp.int32))
        assert bool(told.terminated) == (step == 2)
    assert float(told.reward) == -1.0
    assert env.max_steps == 5 + 2 + 1


def test_the_returns_of_its_page():
    def remembers(key, state, told):
        turn = jnp.where(state.cue > 0, RIGHT, LEFT)
        return jnp.where(told.mask[:, 1], turn, GO_ON).astype(jnp.int32)

    def left(key, state, told):
        return jnp.where(told.mask[:, 1], LEFT, GO_ON).astype(jnp.int32)

    env = envs.make("t-maze")
    assert policy_returns(env, remembers, 64).tolist() == [1.0] * 64
    assert_mean(policy_returns(env, left, 4000), 0.0)
    assert_mean(random_returns(env, 4000), 1 / 9 - 8 / 9)
    # With 3 steps of waiting, all wait with probability 1/9 in each of the first three.
    expected = 1 / 9 - 8 / 9
    for _ in range(3):
        expected = 1 / 9 - 7 / 9 + expected / 9
    assert_mean(random_returns(envs.make("t-maze", waiting=3), 4000), expected)


def test_a_scene_shows_all_agents_where_they_are():
    env = envs.make("t-maze", num_agents=3)
    state, told = env.reset(jax.random.key(0))
    scene = env.scene(state)
    assert scene.circles.agent.tolist() == [0, 1, 2]
    np.testing.assert_allclose(
        scene.circles.centre, env.positions(told.observation, told.state), atol=1e-6
    )
