"""Whole episodes: what they return and how long they last."""

import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs import Environment, Share
from pairvdn.envs.scene import Scene
from pairvdn.evaluation import greedy_episodes, random_episodes
from pairvdn.types import EnvSpec, PRNGKey, TimeStep
from pairvdn.values import Inputs, Value
from pairvdn.values.encoders import NoEncoder


class Luck(Environment[Int32[Array, "2"]]):
    """One agent; action 1 pays 1, action 0 nothing. The reset draws how long the episode lasts."""

    longest: int = 6
    name: str = "luck"
    spec: EnvSpec = EnvSpec(num_agents=1, num_actions=2, observation_size=1, state_size=1)

    @property
    def max_steps(self) -> int:
        return self.longest

    def _step(self, left: Array, reward: Array, *, ended: Array) -> TimeStep:
        return TimeStep(
            observation=jnp.ones((1, 1)),
            state=jnp.ones(1),
            mask=jnp.ones((1, 2), jnp.bool_),
            reward=reward,
            agent_rewards=reward[None],
            terminated=ended,
            truncated=jnp.bool_(False),
        )

    def reset(self, key: PRNGKey) -> tuple[Array, TimeStep]:
        left = jax.random.randint(key, (), 1, self.longest + 1)
        return jnp.stack([left, left]), self._step(left, jnp.float32(0), ended=jnp.bool_(False))

    def step(
        self, key: PRNGKey, state: Array, actions: Int32[Array, " n"]
    ) -> tuple[Array, TimeStep]:
        # Goes on paying beyond its end: who counts too long is found out.
        state = state - jnp.array([1, 0], jnp.int32)
        ended = state[0] == 0
        return state, self._step(state[0], actions[0].astype(jnp.float32), ended=ended)

    def scene(self, state: Array) -> Scene:
        return Scene(bounds=jnp.zeros(4))

    def measures(self, state: Array) -> dict[str, Array]:
        return {"left": state[0].astype(jnp.float32)}

    def shares(self, state: Array, actions: Array) -> dict[str, Share]:
        return {"ones": Share(actions[0].astype(jnp.float32), jnp.float32(1))}


class Always(Value[Float[Array, " a"]]):
    """Prefers one action, whatever is seen."""

    encoder = NoEncoder(Luck().spec)
    num_heads = 1
    action: int

    def compute_tables(self, inputs: Inputs) -> Float[Array, " a"]:
        return jnp.eye(2)[self.action]

    def evaluate(
        self, tables: Float[Array, " a"], actions: Int32[Array, " n"]
    ) -> Float[Array, " h"]:
        return tables[actions]

    def greedy(
        self, tables: Float[Array, " a"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " h"]]:
        best = jnp.argmax(tables)[None].astype(jnp.int32)
        return best, self.evaluate(tables, best)


def test_returns_stop_where_episodes_end() -> None:
    episodes = greedy_episodes(Luck(), Always(1), key=jax.random.key(0), num_episodes=40)
    assert episodes.returns.tolist() == episodes.lengths.tolist()
    assert set(episodes.lengths.tolist()) == {1, 2, 3, 4, 5, 6}


def test_greedy_means_the_best_action() -> None:
    episodes = greedy_episodes(Luck(), Always(0), key=jax.random.key(0), num_episodes=5)
    assert episodes.returns.tolist() == [0.0] * 5


def test_random_episodes_take_each_action_half_of_the_time() -> None:
    episodes = random_episodes(Luck(1), key=jax.random.key(0), num_episodes=2_000)
    assert float(episodes.returns.mean()) == pytest.approx(0.5, abs=0.05)


def test_repeated_actions_change_only_every_so_many_steps() -> None:
    episodes = random_episodes(Luck(6), key=jax.random.key(1), num_episodes=200, action_repeat=6)
    assert set((episodes.returns / episodes.lengths.astype(jnp.float32)).tolist()) == {0.0, 1.0}


def test_the_same_key_gives_the_same_episodes_under_jit_and_without() -> None:
    def play(key: PRNGKey) -> Array:
        return random_episodes(Luck(), key=key, num_episodes=20).returns

    key = jax.random.key(2)
    assert jnp.array_equal(jax.jit(play)(key), play(key))
    assert jnp.array_equal(play(key), play(jax.random.PRNGKey(2)))


@pytest.mark.parametrize("name", ["num_episodes", "action_repeat"])
def test_wrong_numbers_are_named(name: str) -> None:
    arguments = {"num_episodes": 1, name: 0}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        random_episodes(Luck(), key=jax.random.key(0), **arguments)


def test_measures_are_those_of_the_moments_or_of_the_end() -> None:
    moments = (1, 4, 100)
    episodes = greedy_episodes(
        Luck(), Always(1), key=jax.random.key(0), num_episodes=40, moments=moments
    )
    for moment, left, so_far in zip(
        moments, episodes.measures["left"], episodes.measures["return"], strict=True
    ):
        steps = jnp.minimum(episodes.lengths, moment)
        assert so_far.tolist() == steps.tolist()
        assert left.tolist() == (episodes.lengths - steps).tolist()


def test_shares_are_counted_until_an_episode_ends() -> None:
    episodes = random_episodes(Luck(), key=jax.random.key(0), num_episodes=40)
    assert episodes.shares["ones"].whole.tolist() == episodes.lengths.tolist()
    assert episodes.shares["ones"].part.tolist() == episodes.returns.tolist()


def test_moments_begin_after_the_first_step() -> None:
    with pytest.raises(ValueError, match=r"moments\[1\] must be at least 1, not 0"):
        random_episodes(Luck(), key=jax.random.key(0), num_episodes=1, moments=(3, 0))
