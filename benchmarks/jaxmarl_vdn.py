"""A recurrent VDN on Simple Spread with JaxMARL's published hyper-parameters.

JaxMARL's package does not include its training scripts, so this is a short program of our own,
modelled on them (baselines/QLearning: vdn_rnn.py with ql_rnn_mpe.yaml): whole episodes of 26 steps
in 8 environments, one update on 32 replayed episodes after each round, a shared Dense-GRU-Dense
network of 64 units with agent identifiers, squared error, RAdam 0.005 falling to 0, discount 0.9,
target copied every 200 updates, epsilon 1 to 0.05 over the first tenth. It needs
`pip install 'pairvdn[jaxmarl]'`. It prints JSON: the greedy return, summed over agents, of 25-step
episodes.

    python benchmarks/jaxmarl_vdn.py [--steps 1200000] [--seeds 2] [--episodes 256]
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import json
import time
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from pairvdn import envs

ENVIRONMENTS, LENGTH, BATCH, CAPACITY, UNITS = 8, 26, 32, 5000, 64
DISCOUNT, RATE, CLIP, COPY_EVERY, FIRST_UPDATE = 0.9, 0.005, 25.0, 200, 10_000
ENV = envs.make("simple-spread")


class Network(nn.Module):
    """Utilities of one agent from its history: (hidden, inputs) -> (hidden, utilities)."""

    @nn.compact
    def __call__(self, hidden: Any, seen: Any) -> Any:
        """One step of any number of agents."""
        start = nn.initializers.orthogonal(1.0)
        x = nn.relu(nn.Dense(UNITS, kernel_init=start)(seen))
        hidden, x = nn.GRUCell(UNITS)(hidden, x)
        return hidden, nn.Dense(ENV.num_actions, kernel_init=start)(x)


def named(observation: jax.Array) -> jax.Array:
    """[..., n, o] with each agent's identifier appended."""
    n = ENV.num_agents
    names = jnp.broadcast_to(jnp.eye(n), (*observation.shape[:-1], n))
    return jnp.concatenate([observation, names], axis=-1)


def utilities(parameters: Any, seen: jax.Array) -> jax.Array:
    """[time, batch, n, o] -> [time, batch, n, a], from an empty hidden state."""
    empty = jnp.zeros((*seen.shape[1:-1], UNITS))
    step = partial(Network().apply, parameters)
    return jax.lax.scan(step, empty, named(seen))[1]


def rollout(parameters: Any, key: jax.Array, epsilon: jax.Array) -> tuple[jax.Array, ...]:
    """One episode in each environment: observations, actions, rewards, [environments, time]."""
    key, reset_key = jax.random.split(key)
    state, told = jax.vmap(ENV.reset)(jax.random.split(reset_key, ENVIRONMENTS))

    def step(carry: Any, key: jax.Array) -> Any:
        state, seen, hidden = carry
        hidden, values = Network().apply(parameters, hidden, named(seen))
        when, what, env_key = jax.random.split(key, 3)
        shape = values.shape[:-1]
        wild = jax.random.randint(what, shape, 0, ENV.num_actions)
        explores = jax.random.uniform(when, shape) < epsilon
        actions = jnp.where(explores, wild, jnp.argmax(values, axis=-1)).astype(jnp.int32)
        keys = jax.random.split(env_key, ENVIRONMENTS)
        state, told = jax.vmap(ENV.step)(keys, state, actions)
        return (state, told.observation, hidden), (seen, actions, told.reward)

    hidden = jnp.zeros((ENVIRONMENTS, ENV.num_agents, UNITS))
    start = (state, told.observation, hidden)
    _, episode = jax.lax.scan(step, start, jax.random.split(key, LENGTH))
    return jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), episode)


def td_loss(parameters: Any, target: Any, batch: tuple[jax.Array, ...]) -> jax.Array:
    """Squared error of the summed utilities, with double Q-learning, but for the last step."""
    seen, actions, rewards = (jnp.swapaxes(leaf, 0, 1) for leaf in batch)
    values, frozen = utilities(parameters, seen), utilities(target, seen)
    chosen = jnp.take_along_axis(values, actions[..., None], axis=-1)[..., 0].sum(axis=-1)
    best = jnp.argmax(values, axis=-1)[..., None]
    after = jnp.take_along_axis(frozen, best, axis=-1)[..., 0].sum(axis=-1)
    goal = jax.lax.stop_gradient(rewards[:-1] + DISCOUNT * after[1:])
    return jnp.mean((chosen[:-1] - goal) ** 2)


def train(key: jax.Array, rounds: int) -> Any:
    """Rounds of one episode per environment and one update."""
    parameter_key, key = jax.random.split(key)
    seen = jnp.zeros((ENVIRONMENTS, ENV.num_agents, ENV.observation_size))
    hidden = jnp.zeros((ENVIRONMENTS, ENV.num_agents, UNITS))
    parameters = Network().init(parameter_key, hidden, named(seen))
    optimiser = optax.chain(
        optax.clip_by_global_norm(CLIP), optax.radam(optax.linear_schedule(RATE, 1e-10, rounds))
    )
    shapes = jax.eval_shape(rollout, parameters, key, jnp.float32(0))
    memory = jax.tree.map(lambda leaf: jnp.zeros((CAPACITY, *leaf.shape[1:]), leaf.dtype), shapes)
    blocks = CAPACITY // ENVIRONMENTS

    def learn(learned: Any, memory: Any, filled: jax.Array, key: jax.Array) -> Any:
        parameters, target, slopes = learned
        rows = jax.random.randint(key, (BATCH,), 0, filled)
        batch = jax.tree.map(lambda leaf: leaf[rows], memory)
        gradient = jax.grad(td_loss)(parameters, target, batch)
        steps, slopes = optimiser.update(gradient, slopes, parameters)
        return optax.apply_updates(parameters, steps), target, slopes

    def one_round(carry: Any, number: jax.Array) -> Any:
        (parameters, target, slopes), memory, key = carry
        key, play_key, learn_key = jax.random.split(key, 3)
        epsilon = jnp.maximum(0.05, 1.0 - 0.95 * number / (0.1 * rounds))
        episodes = rollout(parameters, play_key, epsilon)
        place = (number % blocks) * ENVIRONMENTS
        memory = jax.tree.map(
            lambda all_, new: jax.lax.dynamic_update_slice_in_dim(all_, new, place, 0),
            memory,
            episodes,
        )
        filled = jnp.minimum(number + 1, blocks) * ENVIRONMENTS
        learned = jax.lax.cond(
            (number + 1) * ENVIRONMENTS * LENGTH > FIRST_UPDATE,
            lambda: learn((parameters, target, slopes), memory, filled, learn_key),
            lambda: (parameters, target, slopes),
        )
        copied = number % COPY_EVERY == 0
        target = jax.tree.map(lambda new, old: jnp.where(copied, new, old), learned[0], learned[1])
        return ((learned[0], target, learned[2]), memory, key), None

    start = ((parameters, parameters, optimiser.init(parameters)), memory, key)
    (learned, _, _), _ = jax.lax.scan(one_round, start, jnp.arange(rounds))
    return learned[0]


def returns(parameters: Any, key: jax.Array, episodes: int) -> jax.Array:
    """Greedy returns of whole episodes, each with its own hidden state."""
    state, told = jax.vmap(ENV.reset)(jax.random.split(key, episodes))

    def step(carry: Any, _: None) -> Any:
        state, seen, hidden = carry
        hidden, values = Network().apply(parameters, hidden, named(seen))
        actions = jnp.argmax(values, axis=-1).astype(jnp.int32)
        keys = jax.random.split(key, episodes)  # unused: only the start is random
        state, told = jax.vmap(ENV.step)(keys, state, actions)
        return (state, told.observation, hidden), told.reward

    hidden = jnp.zeros((episodes, ENV.num_agents, UNITS))
    _, rewards = jax.lax.scan(step, (state, told.observation, hidden), None, length=ENV.max_steps)
    return rewards.sum(axis=0)


def main() -> None:
    """Train every seed and print the returns and the cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_200_000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--episodes", type=int, default=256)
    given = parser.parse_args()
    rounds = given.steps // (ENVIRONMENTS * LENGTH)
    begin, cpu = time.perf_counter(), time.process_time()
    keys = jax.vmap(jax.random.PRNGKey)(jnp.arange(given.seeds))
    learned = jax.block_until_ready(jax.jit(jax.vmap(partial(train, rounds=rounds)))(keys))
    cost = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu}
    play = partial(returns, key=jax.random.PRNGKey(1000), episodes=given.episodes)
    means = jax.jit(jax.vmap(play))(learned).mean(axis=1)
    result = {
        "what": "recurrent VDN, JaxMARL's hyper-parameters, our program",
        "env_steps": rounds * ENVIRONMENTS * LENGTH,
        "updates": rounds - FIRST_UPDATE // (ENVIRONMENTS * LENGTH),
        "episodes": given.episodes,
        "values": [round(float(mean), 3) for mean in means],
        "mean": round(float(means.mean()), 3),
        "cost": {name: round(seconds, 1) for name, seconds in cost.items()},
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
