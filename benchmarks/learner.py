"""Speed of learning: updates per second beside the bare matrix products, on one thread.

Run `python benchmarks/learner.py`; `--help` lists what else it can print. Times are CPU seconds of
one core, the best of several rounds, floor and update taking turns in the same process.
"""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import optax

from pairvdn import envs, values
from pairvdn.learning import WholePass
from pairvdn.learning import replay as memory
from pairvdn.learning.records import Transition
from pairvdn.learning.update import Updater

BATCH, HIDDEN, UPDATES = 32, (128, 128), 100
OBSERVATION, ACTIONS = 13, 4  # Box Jump, preset "paper"


def cpu_seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    jax.block_until_ready(run())
    return time.process_time() - start


def best_of(rounds: int, *runs: Callable[[], Any]) -> list[float]:
    """The least CPU time of each, all of them taking turns so that disturbances are shared."""
    times = [[cpu_seconds(run) for run in runs] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def random_replay(env: Any, rows: int) -> memory.Replay[Transition]:
    """A full replay of noise, of the environment's shapes."""
    n, o, s, a = env.num_agents, env.observation_size, env.state_size, env.num_actions
    keys = jax.random.split(jax.random.PRNGKey(0), 6)
    block = jax.vmap(Transition)(
        jax.random.normal(keys[0], (rows, n, o)),
        jax.random.normal(keys[1], (rows, s)),
        jax.random.randint(keys[2], (rows, n), 0, a),
        jax.random.normal(keys[3], (rows,)),
        jnp.full(rows, 0.99),
        jax.random.normal(keys[4], (rows, n, o)),
        jax.random.normal(keys[5], (rows, s)),
        jnp.ones((rows, n, a), jnp.bool_),
    )
    return memory.insert(memory.empty_like(block, rows), block)


def updates_of(method: str, num_agents: int, **arguments: Any) -> Callable[[], Any]:
    """`UPDATES` updates of this method as one compiled function, replay included."""
    env = envs.make("box-jump", num_boxes=num_agents)

    def make_value(*, key: Any) -> values.Value[Any]:
        return values.make(
            method,
            num_agents=num_agents,
            num_actions=env.num_actions,
            observation_size=env.observation_size,
            state_size=env.state_size,
            key=key,
            **arguments,
        )

    updater = Updater(env, make_value, optimiser=optax.sgd(1e-4))
    replay = random_replay(env, BATCH * UPDATES)
    learned = updater.init(jax.random.PRNGKey(0))
    learn = jax.jit(updater.learn, static_argnums=2)
    return lambda: learn(learned, replay, WholePass(BATCH), jax.random.PRNGKey(0), jnp.int32(0))


def products(rows: int, sizes: Sequence[int]) -> Callable[[], Any]:
    """The floor: `UPDATES` times the matrix products of one update of such a network.

    A network without biases and activations: forward for the value and for its target, then the
    gradients of the weights and of all inputs but the first layer's. Besides the products there is
    only what keeps XLA from leaving any of them out: the error, and a step of the weights.
    """
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    start = [
        jax.random.normal(key, shape) / shape[0] ** 0.5
        for key, shape in zip(keys, pairwise(sizes), strict=False)
    ]
    x = jax.random.normal(keys[-1], (rows, sizes[0]))

    def forward(weights: list[Any]) -> list[Any]:
        layers = [x]
        for weight in weights:
            layers.append(layers[-1] @ weight)
        return layers

    def one(_: Any, carry: Any) -> Any:
        weights, target = carry
        layers, error = forward(weights), forward(target)[-1]
        error = error - layers[-1]
        after = []
        for index in reversed(range(len(weights))):
            after.append(weights[index] + 1e-9 * (layers[index].T @ error))
            if index > 0:
                error = error @ weights[index].T
        return after[::-1], weights

    run = jax.jit(lambda weights: jax.lax.fori_loop(0, UPDATES, one, (weights, weights)))
    return lambda: run(start)
