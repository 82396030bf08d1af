"""JaxMARL both ways: its environments under our contract, and ours under its wrappers."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from unchecked_types import unchecked_types

from pairvdn import envs
from pairvdn.envs.adapters.jaxmarl import from_jaxmarl, to_jaxmarl
from pairvdn.envs.adapters.jaxmarl.named import constructor
from pairvdn.envs.adapters.jaxmarl.original import lenient

pytest.importorskip("jaxmarl", reason="needs pip install 'pairvdn[jaxmarl]'")

SMAX = {"num_allies": 2, "num_enemies": 1, "max_steps": 8, "world_steps_per_env_step": 2}


@pytest.fixture(scope="module")
def spread():
    """Adapter and compiled step of JaxMARL's Simple Spread."""
    env = constructor("MPE_simple_spread_v3")()
    return env, jax.jit(env.reset), jax.jit(env.step)


def test_small_environment_keeps_the_contract():
    envs.check_env(constructor("switch_riddle")())


@pytest.mark.parametrize(
    ("name", "arguments", "actions", "observed"),
    [
        ("MPE_simple_spread_v3", {}, "stay left right down up", ["velocity x", "landmark 2 y"]),
        ("MPE_simple_speaker_listener_v4", {}, "0 1 2 3 4", ["0"]),
        (
            "HeuristicEnemySMAX",
            {"scenario": "2s3z", "max_steps": 10},
            "up right down left stop",
            ["ally 0: health", "enemy 4: weapon cooldown", "own position x"],
        ),
        (
            "overcooked",
            {"layout": "coord_ring", "max_steps": 20},
            "up down right left stay interact",
            ["row 4, column 4: layer 25"],
        ),
    ],
)
def test_actions_and_observations_have_names(name, arguments, actions, observed):
    env = constructor(name)(**arguments)
    assert isinstance(env, envs.HasNames)
    assert len(env.action_names) == env.num_actions
    assert len(env.observation_names) == env.observation_size
    assert " ".join(env.action_names).startswith(actions)
    assert set(observed) <= set(env.observation_names)


def test_the_names_of_directions_are_where_agents_go(spread):
    env, reset, step = spread
    state, before = reset(jax.random.key(0))
    place = env.positions(before.observation, before.state)
    directions = {"left": (0, -1), "right": (0, 1), "down": (1, -1), "up": (1, 1)}
    for direction, (axis, sign) in directions.items():
        chosen = jnp.full(env.num_agents, env.action_names.index(direction), jnp.int32)
        # MPE moves agents with the speed that they had before the step.
        later, _ = step(jax.random.key(1), state, chosen)
        _, after = step(jax.random.key(2), later, chosen)
        moved = env.positions(after.observation, after.state) - place
        assert (sign * moved[:, axis] > 0).any(), direction


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:SMAX trains both armies")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("MPE_simple_spread_v3", {}),
        ("MPE_simple_speaker_listener_v4", {}),
        ("overcooked", {"layout": "coord_ring", "max_steps": 20}),
        ("overcooked_v2", {"max_steps": 20}),
        ("SMAX", SMAX),
        ("HeuristicEnemySMAX", {"scenario": "2s3z", "max_steps": 10}),
        ("hanabi", {"max_steps": 30}),
    ],
)
def test_environments_keep_the_contract(name, arguments):
    envs.check_env(constructor(name)(**arguments))


def test_simple_spread_is_ours_step_by_step(spread):
    """Same observations, same rewards in the same scale, same length."""
    theirs, reset, step = spread
    ours = envs.make("simple-spread")
    our_state, _ = ours.reset(jax.random.key(1))
    state, told = reset(jax.random.key(0))
    assert told.observation.shape == (3, ours.observation_size)
    our_step = jax.jit(ours.step)
    for time in range(25):
        key = jax.random.key(time)
        actions = jax.random.randint(key, (3,), 0, 5)
        places = state.inner.p_pos
        our_state = type(our_state)(
            places[:3], state.inner.p_vel[:3], places[3:], jnp.asarray(time, jnp.int32)
        )
        _, expected = our_step(key, our_state, actions)
        state, told = step(key, state, actions)
        np.testing.assert_allclose(told.observation, expected.observation, atol=1e-5)
        np.testing.assert_allclose(told.agent_rewards, expected.agent_rewards, atol=1e-4)
        np.testing.assert_allclose(told.reward, expected.reward, atol=1e-4)
        np.testing.assert_allclose(
            theirs.positions(told.observation, told.state), state.inner.p_pos[:3]
        )
        assert bool(told.truncated) == (time == 24)
        assert not told.terminated


def test_sizes_that_differ_are_padded_and_masked():
    env = constructor("MPE_simple_speaker_listener_v4")()
    sizes = dict(zip(env.original.agents, env.original.observation_sizes, strict=True))
    assert sizes == {"speaker_0": 3, "listener_0": 11}
    _, told = jax.jit(env.reset)(jax.random.key(0))
    speaker, listener = (env.original.agents.index(one) for one in ("speaker_0", "listener_0"))
    assert told.observation.shape == (2, 11)
    assert not told.observation[speaker, 3:].any()
    assert told.state.shape == (14,)
    np.testing.assert_array_equal(told.mask[speaker], [True] * 3 + [False] * 2)
    assert told.mask[listener].all()


@pytest.fixture(scope="module")
def battle():
    """SMAX, two against one: the fight ends before the clock or at it."""
    with pytest.warns(UserWarning, match="both armies as one team.*HeuristicEnemySMAX"):
        env = constructor("SMAX")(**SMAX)
    return env, jax.jit(env.reset), jax.jit(env.step)


def test_smax_masks_state_and_team_reward(battle):
    env, reset, step = battle
    state, told = reset(jax.random.key(0))
    with lenient():
        available = env.original.env.get_avail_actions(state.inner)
    for row, agent in zip(told.mask, env.original.agents, strict=True):
        expected = np.asarray(available[agent], bool)
        np.testing.assert_array_equal(row[: expected.size], expected)
        assert not row[expected.size :].any()
    with lenient():
        world = env.original.env.get_world_state(state.inner)
    np.testing.assert_array_equal(told.state, world)
    np.testing.assert_array_equal(
        env.positions(told.observation, told.state), state.inner.unit_positions
    )
    assert env.team_reward == "mean"  # every ally is told the team's reward
    # An enemy out of range cannot be attacked: trying to is the same as stopping.
    assert not told.mask[0, 5]
    stop, attack = (jnp.array([one, 4, 4], jnp.int32) for one in (4, 5))
    key = jax.random.key(1)
    assert jax.tree.all(
        jax.tree.map(
            lambda one, other: (one == other).all(),
            step(key, state, stop),
            step(key, state, attack),
        )
    )


@pytest.mark.parametrize("time", [0, 6, 7])
def test_end_of_a_fight_terminates_also_at_the_last_moment(battle, time):
    env, reset, step = battle
    state, _ = reset(jax.random.key(0))
    killed = state.inner.replace(
        unit_health=state.inner.unit_health.at[2].set(0.0),
        unit_alive=state.inner.unit_alive.at[2].set(False),
    )
    stay = jnp.full((3,), 4, jnp.int32)
    for inner, is_over in ((state.inner, False), (killed, True)):
        now = type(state)(inner, state.mask, jnp.asarray(time, jnp.int32))
        _, told = step(jax.random.key(1), now, stay)
        assert bool(told.terminated) == is_over
        assert bool(told.truncated) == (time + 1 == env.max_steps)


def test_overcooked_is_truncated_by_its_clock():
    """JaxMARL says only `done`; nothing terminates there."""
    env = constructor("overcooked")(max_steps=3, layout="forced_coord")
    state, told = jax.jit(env.reset)(jax.random.key(0))
    places = env.positions(told.observation, told.state)
    np.testing.assert_array_equal(places, np.asarray(state.inner.agent_pos, int) * [[1, -1]])
    step = jax.jit(env.step)
    for time in range(3):
        state, told = step(jax.random.key(time), state, jnp.array([0, 4], jnp.int32))
        assert not told.terminated
        assert bool(told.truncated) == (time == 2)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("MPE_simple_spred_v3", {}, "did you mean 'MPE_simple_spread_v3'"),
        ("MPE_simple_spread_v3", {"num_agent": 4}, "did you mean 'num_agents'"),
        ("MPE_simple_spread_v3", {"local_ratio": 2.0}, "local_ratio must be between"),
        ("MPE_simple_spread_v3", {"action_type": "Continuous"}, "Box actions"),
        ("MPE_simple_spread_v3", {"num_agents": 10**9}, "num_agents must be from 0 to 1000"),
        ("HeuristicEnemySMAX", {"num_allies": -1}, "num_allies must be from 0 to 1000"),
        ("MPE_simple_spread_v3", {"team_reward": "max"}, "sum, mean"),
        ("overcooked", {"layout": "nowhere"}, "cramped_room"),
        ("hanabi", {}, "give max_steps"),
        ("storm", {}, "must return an observation for each agent"),
    ],
)
def test_what_does_not_fit_is_refused(name, arguments, says):
    with pytest.raises(ValueError, match=says), unchecked_types():
        constructor(name)(**arguments)


def test_import_keeps_quiet_and_the_streams():
    code = """
import io, sys
from pairvdn.envs.adapters.jaxmarl.original import library
own, mine = sys.__stdout__, io.StringIO()
sys.stderr = mine
library()
assert sys.stderr is mine and sys.__stdout__ is own
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == ""


@pytest.fixture(scope="module")
def exported():
    """Box Jump for JaxMARL, small: two boxes, four steps."""
    env = envs.make("box-jump", num_boxes=2, max_steps=4)
    return env, to_jaxmarl(env)


def test_box_jump_under_jaxmarls_wrappers(exported):
    """`CTRolloutManager` over `LogWrapper`, as its Q-learning scripts have them, in a scan."""
    baselines = pytest.importorskip("jaxmarl.wrappers.baselines")
    env, theirs = exported
    manager = baselines.CTRolloutManager(baselines.LogWrapper(theirs), batch_size=3)

    @jax.jit
    def play(key):
        _, states = manager.batch_reset(key)

        def act(states, key):
            keys = jax.random.split(key, 3)
            actions = {
                agent: manager.batch_sample(one, agent)
                for agent, one in zip(theirs.agents, keys, strict=False)
            }
            seen, states, rewards, dones, infos = manager.batch_step(keys[2], states, actions)
            return states, (seen, rewards, dones, infos)

        return jax.lax.scan(act, states, jax.random.split(key, 9))[1]

    with lenient():
        seen, rewards, dones, infos = play(jax.random.PRNGKey(0))
    assert seen["__all__"].shape == (9, 3, 2 * env.observation_size)
    assert seen["agent_0"].shape == (9, 3, env.observation_size + 2)  # and who it is
    ends = np.asarray(dones["__all__"])
    assert ends[3].all()
    assert ends[7].all()
    assert ends.sum() == 6
    together = sum(rewards[agent] for agent in theirs.agents)
    np.testing.assert_allclose(rewards["__all__"], together, atol=1e-6)
    # The wrapper's own sums are those of our rewards: it saw the ends where we put them.
    lengths = np.asarray(infos["returned_episode_lengths"])[[3, 7]]
    np.testing.assert_array_equal(lengths, np.full((2, 3, 2), 4))
    returns = np.asarray(infos["returned_episode_returns"])[7].sum(axis=1)
    np.testing.assert_allclose(returns, np.asarray(together)[4:8].sum(axis=0), atol=1e-5)
    assert infos["truncated"].shape == (9, 3, 2)


def test_exported_environment_tells_what_ours_tells(exported):
    env, theirs = exported
    key, step_key = jax.random.split(jax.random.PRNGKey(3))
    state, told = jax.jit(env.reset)(key)
    seen, their_state = theirs.reset(key)
    np.testing.assert_array_equal(seen["agent_1"], told.observation[1])
    np.testing.assert_array_equal(theirs.get_world_state(their_state), told.state)
    np.testing.assert_array_equal(theirs.get_avail_actions(their_state)["agent_0"], told.mask[0])
    assert theirs.action_space("agent_0").n == env.num_actions
    assert theirs.observation_space("agent_0").shape == (env.observation_size,)
    actions = jnp.array([1, 2], jnp.int32)
    _, told = jax.jit(env.step)(step_key, state, actions)
    seen, _, rewards, dones, _ = theirs.step_env(
        step_key, their_state, dict(zip(theirs.agents, actions, strict=True))
    )
    np.testing.assert_allclose(seen["agent_0"], told.observation[0], atol=1e-6)
    np.testing.assert_allclose(sum(rewards.values()), told.reward, atol=1e-6)
    assert not dones["__all__"]


def test_rewards_of_a_team_that_averages_add_up_to_the_teams():
    env = envs.make("simple-spread", team_reward="mean", max_steps=2)
    theirs = to_jaxmarl(env)
    key = jax.random.PRNGKey(0)
    _, state = theirs.reset(key)
    actions = dict.fromkeys(theirs.agents, jnp.int32(1))
    _, state, rewards, _, _ = theirs.step_env(key, state, actions)
    np.testing.assert_allclose(sum(rewards.values()), state.time_step.reward, atol=1e-5)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (99, "must be from 0 to"),
        (-1, "must be from 0 to"),
        (1.5, "must be whole numbers"),
        ("north", "must be whole numbers"),
    ],
)
def test_exported_environments_refuse_actions_that_do_not_exist(exported, action, says):
    _, theirs = exported
    key = jax.random.PRNGKey(0)
    _, state = theirs.reset(key)
    actions = {**dict.fromkeys(theirs.agents, 1), "agent_0": action}
    for step in (theirs.step, theirs.step_env):
        with unchecked_types(), pytest.raises(ValueError, match=f"actions {says}"):
            step(key, state, actions)
        with unchecked_types(), pytest.raises(ValueError, match="missing for agent_1"):
            step(key, state, {"agent_0": 1})


def test_there_and_back_again():
    env = envs.make("simple-spread", max_steps=3)
    back = from_jaxmarl(to_jaxmarl(env))
    key = jax.random.key(0)
    _, told = back.reset(key)
    _, expected = env.reset(key)
    np.testing.assert_array_equal(told.observation, expected.observation)
    assert (back.max_steps, back.num_actions, back.state_size) == (3, 5, env.state_size)
