"""Write a new environment, check it, and see whether pairs of agents matter in it.

Three porters stand in a ring, with a crate between every two neighbours. Each can pull at the crate
on the left, at the one on the right, or rest. A crate is lifted only if both its porters pull at
it. A porter that pulls alone drops it, which costs more than a crate is worth. So only one crate
can be lifted at a time, and a porter with a value of its own learns to rest.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from pairvdn import envs, values
from pairvdn.acting.exploration import LinearEpsilon
from pairvdn.envs.scene import Circles, Scene
from pairvdn.evaluation import greedy_episodes
from pairvdn.learning import parallel_learner
from pairvdn.types import EnvSpec

REST, LEFT, RIGHT = range(3)
OPTIMUM = 12.0  # the heaviest crate, 3, in each of four steps


class PortersState(eqx.Module):
    """Everything on which the next step depends."""

    weights: jax.Array  # f32[n]: crate i is between porter i and the next; a heavy one is worth 3
    time: jax.Array  # i32[]


class Porters(envs.Environment[PortersState]):
    """Name, sizes and length are plain attributes; all randomness comes from a key."""

    name = "porters"
    spec = EnvSpec(num_agents=3, num_actions=3, observation_size=2, state_size=3)
    max_steps = 4

    def reset(self, key):
        """One crate is heavy."""
        weights = jnp.full(self.num_agents, 1.0).at[jax.random.randint(key, (), 0, 3)].set(3.0)
        state = PortersState(weights, jnp.int32(0))
        return state, self._time_step(state)

    def step(self, key, state, actions):
        """Act once; `step` never resets."""
        actions = self.as_actions(actions, no_op=REST)
        one, other = actions == RIGHT, jnp.roll(actions, -1) == LEFT  # the two at crate i
        worth = jnp.where(one & other, state.weights, jnp.where(one ^ other, -5.0, 0.0))
        state = PortersState(state.weights, state.time + 1)
        # A crate's worth is shared by its two porters.
        return state, self._time_step(state, (worth + jnp.roll(worth, 1)) / 2)

    def scene(self, state):
        """The picture, as data."""
        angle = jnp.arange(self.num_agents) * 2 * jnp.pi / self.num_agents
        return Scene(
            bounds=jnp.array([-2.0, -2.0, 2.0, 2.0]),
            circles=Circles(
                centre=jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1),
                radius=0.1 + state.weights / 10,
                colour=jnp.full((self.num_agents, 3), 0.4),
                agent=jnp.arange(self.num_agents, dtype=jnp.int32),
            ),
        )

    def _time_step(self, state, rewards=None):
        """A porter sees the crates beside it; all actions are always allowed."""
        return self.time_step(
            observation=jnp.stack([jnp.roll(state.weights, 1), state.weights], axis=1),
            state=state.weights,
            rewards=rewards,
            truncated=state.time >= self.max_steps,
        )


def train(env: Porters, method: str) -> float:
    learner = parallel_learner(
        env,
        values.maker(method, env.spec, hidden_sizes=(32, 32)),
        num_epochs=1,
        rounds_per_epoch=100,
        num_envs=32,
        updates_per_round=10,
        batch_size=64,
        replay_capacity=8_000,
        n_step=1,
        loss="squared",
        discount=0.5,  # actions do not change later rewards
        optimiser=optax.adam(3e-3),
        exploration=LinearEpsilon(1.0, 1.0, epochs=1),  # random play visits all states here
    )
    state, _ = jax.jit(lambda key: learner.epoch(learner.init(key)))(jax.random.key(0))
    episodes = greedy_episodes(env, learner.value(state), key=jax.random.key(1), num_episodes=20)
    return float(episodes.returns.mean())


def main():
    env = Porters()
    envs.check_env(env)  # raises a ContractError that names the broken rule
    print("the environment keeps the contract")
    for method in ("vdn", "pairvdn"):
        print(f"{method}: {train(env, method):g} of {OPTIMUM:g}")


if __name__ == "__main__":
    main()
