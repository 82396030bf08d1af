"""Speed of values with memory, and of learning without replay, on one core.

Run `python benchmarks/recurrent.py`. The first table has updates on sequences beside the bare GRU
and matrix products of the same sizes; the second environment steps per second of the schedules
`parallel` and `pqn` at equal numbers of updates. Times are CPU seconds, the best of several rounds
that take turns in one process.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import optax
from learner import best_of, cpu_seconds

from pairvdn import envs, values
from pairvdn.acting import RandomPolicy, side_by_side
from pairvdn.learning import (
    RandomBatches,
    SequenceLoss,
    Sequences,
    Updater,
    collector_for,
    parallel_learner,
    pqn_learner,
)
from pairvdn.learning import replay as memory

BATCH, LENGTH, SIZE, HIDDEN, UPDATES, ROUNDS = 16, 20, 64, (128,), 20, 5


def updates_of(method: str, env: Any) -> Callable[[], Any]:
    """`UPDATES` updates on sequences as one compiled function, sampling included."""
    make = values.maker(method, env.spec, encoder="gru", encoder_size=SIZE, hidden_sizes=HIDDEN)
    updater = Updater(make, SequenceLoss(env), optimiser=optax.sgd(1e-4))
    learned = jax.jit(updater.init)(jax.random.PRNGKey(0))
    collector = collector_for(env, num_envs=2 * BATCH, recorder=Sequences(LENGTH))
    actor = side_by_side(RandomPolicy(updater.value(learned).encoder))
    start = jax.jit(collector.start, static_argnums=(1, 2))
    replay = memory.only(start(jax.random.PRNGKey(1), actor, LENGTH)[1])
    learn = jax.jit(updater.learn, static_argnums=2)
    batches = RandomBatches(BATCH, UPDATES)
    return lambda: learn(learned, replay, batches, jax.random.PRNGKey(0), jnp.int32(0))


def bare(env: Any, members: int) -> Callable[[], Any]:
    """The floor: a plain GRU and plain products of the same sizes, for value and target.

    A dense layer, the unit, and the layers of the heads for groups of so many agents, one group per
    agent, without biases; identifiers count as inputs. One gradient step each.
    """
    n, o, a = env.num_agents, env.observation_size, env.num_actions
    heads = (members * (SIZE + n), *HIDDEN, a**members)
    shapes = [(o + n, SIZE), (SIZE, 3 * SIZE), (SIZE, 3 * SIZE), *pairwise(heads)]
    keys = jax.random.split(jax.random.PRNGKey(0), len(shapes) + 1)
    start = [
        jax.random.normal(key, shape) / shape[0] ** 0.5
        for key, shape in zip(keys, shapes, strict=False)
    ]
    seen = jax.random.normal(keys[-1], (LENGTH + 1, BATCH * n, o + n))
    names = jnp.broadcast_to(jnp.eye(n), (LENGTH + 1, BATCH, n, n)).reshape(LENGTH + 1, -1, n)

    def forward(weights: list[Any]) -> Any:
        first, inputs, recurrent, *layers = weights
        gates = jax.nn.relu(seen @ first) @ inputs

        def step(hidden: Any, gate: Any) -> Any:
            r_in, z_in, n_in = jnp.split(gate, 3, axis=-1)
            r_on, z_on, n_on = jnp.split(hidden @ recurrent, 3, axis=-1)
            update = jax.nn.sigmoid(z_in + z_on)
            new = jnp.tanh(n_in + jax.nn.sigmoid(r_in + r_on) * n_on)
            hidden = new + update * (hidden - new)
            return hidden, hidden

        _, features = jax.lax.scan(step, jnp.zeros((BATCH * n, SIZE)), gates)
        x = jnp.concatenate([features, names] * members, axis=-1)
        for layer in layers[:-1]:
            x = jax.nn.relu(x @ layer)
        return x @ layers[-1]

    def one(_: Any, carry: Any) -> Any:
        weights, target = carry
        wanted = forward(target)
        gradient = jax.grad(lambda w: jnp.mean((forward(w) - wanted) ** 2))(weights)
        return jax.tree.map(lambda w, g: w - 1e-4 * g, weights, gradient), weights

    run = jax.jit(lambda weights: jax.lax.fori_loop(0, UPDATES, one, (weights, weights)))
    return lambda: run(start)


def compare(num_agents: int, methods: Sequence[str]) -> None:
    env = envs.make("box-jump", num_boxes=num_agents)
    for method in methods:
        update = updates_of(method, env)
        floor = bare(env, 2 if method.startswith("pair") else 1)
        first = cpu_seconds(update)
        cpu_seconds(floor)
        seconds, least = best_of(ROUNDS, update, floor)
        print(
            f"| {method} | {num_agents} | {UPDATES / seconds:,.0f} | {1e3 * seconds / UPDATES:.2f} "
            f"| {1e3 * least / UPDATES:.2f} | {seconds / least:.2f} | {first:.1f} |",
            flush=True,
        )


class Epochs:
    """One epoch after another, with the state donated: the replay is updated in place."""

    def __init__(self, learner: Any, state: Any) -> None:
        self.epoch, self.state = jax.jit(learner.epoch, donate_argnums=0), state

    def __call__(self) -> Any:
        """The metrics of the next epoch."""
        self.state, metrics = self.epoch(self.state)
        return metrics


def schedules(name: str, method: str) -> None:
    """An epoch of each schedule: the same numbers of environments, steps and updates."""
    env = envs.make(name)
    shared: dict[str, Any] = {
        "num_epochs": 1,
        "rounds_per_epoch": 2,
        "num_envs": 64,
        "agent_steps_per_round": 32,
        "batch_size": 256,
    }
    make = values.maker(method, env.spec, hidden_sizes=(64, 64), layer_norm=True)
    learners = {
        "parallel": parallel_learner(env, make, updates_per_round=16, **shared),
        "pqn": pqn_learner(env, make, passes_per_round=2, **shared),
    }
    runs, sizes = [], []
    for learner in learners.values():
        state = jax.jit(learner.init)(jax.random.PRNGKey(0))
        sizes.append(sum(leaf.nbytes for leaf in jax.tree.leaves(state)) / 1e6)
        runs.append(Epochs(learner, state))
        cpu_seconds(runs[-1])
    steps = 64 * 32 * 2
    for schedule, seconds, size in zip(learners, best_of(3, *runs), sizes, strict=True):
        print(
            f"| {name} | {method} | {schedule} | {steps / seconds:,.0f} | {size:,.1f} |", flush=True
        )


def main() -> None:
    # Bind to one core before XLA counts the cores.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[8])
    parser.add_argument("--methods", nargs="+", default=["vdn", "pairvdn"])
    parser.add_argument("--envs", nargs="*", default=["predator-prey", "box-jump"])
    arguments = parser.parse_args()
    print(
        "| method | agents | updates/s | ms | bare GRU and products, ms | ratio | first call, s |"
    )
    print("|---|---|---|---|---|---|---|")
    for num_agents in arguments.agents:
        compare(num_agents, arguments.methods)
    if arguments.envs:
        print("\n| environment | method | schedule | environment steps per s | state, MB |")
        print("|---|---|---|---|---|")
        for name in arguments.envs:
            schedules(name, "pairvdn")


if __name__ == "__main__":
    main()
