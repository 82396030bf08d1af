"""Episodes recorded from the original play again exactly."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from recordings import read_folder, read_packed
from replay import from_layout

FOLDER = Path(__file__).parents[4] / "shared" / "reference" / "cooking"
KEY = jax.random.key(0)
RECORDINGS = read_packed()


def kind_of_kitchen(env):
    """All that a compiled step depends on: tiles and starts are part of the state."""
    settings = env.settings
    level = settings.level
    things = tuple(thing.kind for thing in level.dynamics)
    rewards = (settings.recipe_reward, settings.recipe_penalty, settings.recipe_node_reward)
    ends = (settings.max_time_penalty, settings.max_steps, settings.end_all)
    return level.width, level.height, things, settings.meta, settings.recipes, rewards, ends


def grouped():
    """Recordings whose kitchens share one compiled step, by the name of the first of them."""
    groups = {}
    for recording in RECORDINGS:
        env = from_layout(recording.entry)
        groups.setdefault(kind_of_kitchen(env), []).append((env, recording))
    return {group[0][1].entry["file"]: group for group in groups.values()}


GROUPS = grouped()


def compare(recording, first, steps):
    arrays = recording.arrays
    length = len(arrays["act"])
    steps = jax.tree.map(lambda leaf: np.asarray(leaf)[:length], steps)
    observation = np.concatenate([first.observation[None], steps.observation])
    np.testing.assert_allclose(observation, arrays["obs"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(steps.agent_rewards, arrays["rew"], rtol=0, atol=2e-6)
    for flag, recorded in ((steps.terminated, "term"), (steps.truncated, "trunc")):
        expected = np.broadcast_to(flag[:, None], arrays[recorded].shape)
        np.testing.assert_array_equal(expected, arrays[recorded])
    if "gstate" in arrays:
        state = np.concatenate([first.state[None], steps.state])
        np.testing.assert_allclose(state, arrays["gstate"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", GROUPS)
def test_episodes_replay_exactly(name):
    group = GROUPS[name]
    starts = [jax.jit(env.reset)(KEY) for env, _ in group]
    longest = max(len(recording.arrays["act"]) for _, recording in group)
    actions = np.zeros((len(group), longest, group[0][0].num_agents), np.int32)
    for row, (_, recording) in zip(actions, group, strict=True):
        row[: len(recording.arrays["act"])] = recording.arrays["act"]

    @jax.jit
    @jax.vmap
    def play(state, actions):
        return jax.lax.scan(lambda state, act: group[0][0].step(KEY, state, act), state, actions)[1]

    states = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(state for state, _ in starts))
    played = play(states, actions)
    for i, ((_, recording), (_, first)) in enumerate(zip(group, starts, strict=True)):
        compare(recording, first, jax.tree.map(lambda leaf, i=i: leaf[i], played))


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.entry["file"])
def test_each_episode_replays_in_an_environment_of_its_own(recording):
    env = from_layout(recording.entry)

    @jax.jit
    def play(actions):
        state, first = env.reset(KEY)
        return first, jax.lax.scan(lambda state, act: env.step(KEY, state, act), state, actions)[1]

    compare(recording, *play(jnp.asarray(recording.arrays["act"], jnp.int32)))


def test_recordings_show_what_they_are_for():
    """Success, time-out, shared cells and every recipe that was recorded are among them."""
    ends = [recording.arrays["term"].any() for recording in RECORDINGS]
    recipes = {name for recording in RECORDINGS for name in recording.entry["recipes"]}
    assert len(RECORDINGS) == 52
    assert sum(ends) == 19
    assert recipes == {
        "TomatoSalad",
        "TomatoLettuceSalad",
        "CarrotBanana",
        "MashedCarrotBanana",
    }


@pytest.mark.skipif(not FOLDER.exists(), reason="the original recordings are not here")
def test_the_packed_recordings_are_all_of_the_originals():
    originals = read_folder(FOLDER)
    for packed, original in zip(RECORDINGS, originals, strict=True):
        assert packed.entry.items() <= original.entry.items()
        assert packed.arrays.keys() == original.arrays.keys()
        for name, array in original.arrays.items():
            np.testing.assert_array_equal(packed.arrays[name], array)


def test_a_layout_with_switches_is_refused():
    entry = {**RECORDINGS[0].entry, "static": [["Switch", 4, 3]]}
    with pytest.raises(ValueError, match="may name Cutboard, Blender, Deliversquare, not 'Switch'"):
        from_layout(entry)
