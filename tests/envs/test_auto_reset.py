import jax
import jax.numpy as jnp
import numpy as np
import pytest
from walk import MAX_STEPS, NUM_AGENTS, STAY, Walk, WalkState

from pairvdn import envs
from pairvdn.envs import AutoReset, EpisodeStatistics, HasPositions, auto_reset
from pairvdn.envs.auto_reset import split_key

RIGHT = jnp.full((NUM_AGENTS,), 2, jnp.int32)


def stream(env, keys, actions):
    """States before and after, time steps and statistics of a scan over `keys`."""

    def act(carry, key):
        state, statistics = carry
        after, time_step = env.step(key, state, actions)
        statistics = statistics.after(time_step)
        return (after, statistics), (state, after, time_step, statistics)

    state, first = env.reset(keys[0])
    _, results = jax.lax.scan(act, (state, EpisodeStatistics.start()), keys[1:])
    return first, results


@pytest.fixture(scope="module")
def streamed():
    keys = jax.random.split(jax.random.key(3), 41)
    return keys[1:], jax.jit(lambda keys: stream(auto_reset(Walk()), keys, RIGHT))(keys)


def test_an_end_shows_the_next_start_and_keeps_the_end(streamed):
    keys, (_, (before, after, steps, _)) = streamed
    env, ends = Walk(), 0
    step, reset = jax.jit(env.step), jax.jit(env.reset)
    for t, key in enumerate(keys):
        step_key, reset_key = split_key(key)
        state, plain = step(step_key, jax.tree.map(lambda leaf, t=t: leaf[t], before), RIGHT)
        seen = jax.tree.map(lambda leaf, t=t: np.asarray(leaf[t]), steps)
        np.testing.assert_array_equal(seen.final_observation, plain.observation)
        np.testing.assert_array_equal(seen.final_state, plain.state)
        np.testing.assert_array_equal(seen.final_mask, plain.mask)
        for field in ("reward", "agent_rewards", "terminated", "truncated"):
            np.testing.assert_array_equal(getattr(seen, field), getattr(plain, field))
        if plain.terminated or plain.truncated:
            state, plain = reset(reset_key)
            ends += 1
        np.testing.assert_array_equal(after.cells[t], state.cells)
        assert after.time[t] == state.time
        np.testing.assert_array_equal(seen.observation, plain.observation)
        np.testing.assert_array_equal(seen.state, plain.state)
        np.testing.assert_array_equal(seen.mask, plain.mask)
    assert ends > 5


def test_statistics_are_those_of_a_plain_count(streamed):
    _, (_, (_, _, steps, statistics)) = streamed
    total, length, last, count = 0.0, 0, (0.0, 0), 0
    ended = np.asarray(steps.terminated | steps.truncated)
    for t, reward in enumerate(np.asarray(steps.reward)):
        total, length = total + float(reward), length + 1
        if ended[t]:
            last, count = (total, length), count + 1
            total, length = 0.0, 0
        assert float(statistics.running_return[t]) == total
        assert int(statistics.running_length[t]) == length
        assert (float(statistics.last_return[t]), int(statistics.last_length[t])) == last
        assert int(statistics.num_finished[t]) == count
    assert count > 5


def test_an_episode_is_truncated_at_its_own_max_steps():
    stay = jnp.full((NUM_AGENTS,), STAY, jnp.int32)
    keys = jax.random.split(jax.random.key(0), 3 * MAX_STEPS + 1)
    _, (_, _, steps, _) = stream(auto_reset(Walk()), keys, stay)
    expected = [t % MAX_STEPS == 0 for t in range(1, 3 * MAX_STEPS + 1)]
    assert steps.truncated.tolist() == expected


def test_a_batch_resets_only_those_that_ended():
    env = auto_reset(Walk())
    keys = jax.random.split(jax.random.key(5), (16, 30))
    _, one_by_one = jax.lax.map(lambda keys: stream(env, keys, RIGHT), keys)
    _, at_once = jax.vmap(lambda keys: stream(env, keys, RIGHT))(keys)
    jax.tree.map(np.testing.assert_array_equal, one_by_one, at_once)
    ends = np.asarray(at_once[2].terminated | at_once[2].truncated)
    assert ends.any(axis=0).sum() > 0
    assert not (ends.all(axis=0) == ends.any(axis=0)).all()


def at(tree, place):
    return jax.tree.map(lambda leaf: leaf[place], tree)


def assert_close(first, second):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), first, second)


def nested_step(env):
    """A batch of batches of steps; all take the same actions."""
    return jax.jit(jax.vmap(jax.vmap(env.step, (0, 0, None)), (0, 0, None)))


def test_batches_of_batches_and_shared_arguments_are_as_one_by_one():
    env = auto_reset(Walk())
    step = jax.jit(env.step)
    keys = jax.random.split(jax.random.key(7), (3, 4))
    starts, _ = jax.jit(jax.vmap(jax.vmap(env.reset)))(keys)
    late = jnp.arange(3, dtype=jnp.int32) + MAX_STEPS - 2  # the first batch goes on
    starts = WalkState(starts.cells, jnp.broadcast_to(late[:, None], (3, 4)))
    nested = nested_step(env)(keys, starts, RIGHT)
    for place in np.ndindex(3, 4):
        assert_close(at(nested, place), step(at(keys, place), at(starts, place), RIGHT))
    shared_key = jax.jit(jax.vmap(env.step, (None, 0, None)))(keys[2, 1], at(starts, 2), RIGHT)
    assert_close(at(shared_key, 3), step(keys[2, 1], at(starts, (2, 3)), RIGHT))


def test_a_batch_asks_once_whether_anything_ended():
    env = auto_reset(Walk())
    keys = jax.random.split(jax.random.key(7), (3, 4))
    starts, _ = jax.vmap(jax.vmap(env.reset))(keys)
    # One branch for all: an ordinary `vmap` would leave none and compute every reset.
    assert nested_step(env).lower(keys, starts, RIGHT).as_text().count("stablehlo.case") == 1


@pytest.mark.parametrize("make_key", [jax.random.key, jax.random.PRNGKey])
def test_both_kinds_of_keys(make_key):
    env = auto_reset(Walk())
    state, first = env.reset(make_key(0))
    _, second = env.step(make_key(1), state, RIGHT)
    again, _ = env.reset(jax.random.key(0))
    _, expected = env.step(jax.random.key(1), again, RIGHT)
    np.testing.assert_array_equal(first.observation, first.final_observation)
    jax.tree.map(np.testing.assert_array_equal, second, expected)


def test_positions_are_there_only_if_the_environment_has_them():
    walk, game = auto_reset(Walk()), auto_reset(envs.make("climbing"))
    assert isinstance(walk, HasPositions)
    assert not isinstance(game, HasPositions)
    state, first = walk.reset(jax.random.key(0))
    places = walk.positions(first.observation, first.state)
    np.testing.assert_allclose(places[:, 0], state.cells.astype(jnp.float32), rtol=1e-6)


def test_it_describes_itself_as_the_environment_inside_does():
    env, wrapped = Walk(), auto_reset(Walk())
    for field in ("name", "num_agents", "num_actions", "observation_size", "state_size"):
        assert getattr(wrapped, field) == getattr(env, field)
    assert wrapped.max_steps == env.max_steps
    assert wrapped.env == env
    state, _ = wrapped.reset(jax.random.key(0))
    jax.tree.map(np.testing.assert_array_equal, wrapped.scene(state), env.scene(state))
    with pytest.raises(TypeError):
        AutoReset(env)


def test_what_an_environment_tells_as_a_constant_is_batched_too():
    # `terminated` is always False there, which JAX hands on as a plain bool inside a scan.
    env = auto_reset(envs.make("aloha", max_steps=2))
    idle = jnp.zeros((env.num_agents,), jnp.int32)

    def play(key):
        keys = jax.random.split(key, 4)
        state, _ = env.reset(key)
        return jax.lax.scan(lambda state, key: env.step(key, state, idle), state, keys)[1].truncated

    truncated = jax.vmap(play)(jax.random.split(jax.random.key(0), 3))
    assert truncated.tolist() == [[False, True, False, True]] * 3
