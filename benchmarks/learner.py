"""Speed of learning: updates per second beside the bare matrix products, on one core.

Run `python benchmarks/learner.py`; `--run` adds a whole run of the paper's protocol. Times are CPU
seconds of one core, the best of several rounds; products and updates take turns in one process.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import optax

from pairvdn import envs, values
from pairvdn.acting.policy import tables
from pairvdn.config import load_preset
from pairvdn.learning import RandomBatches, TransitionLoss, WholePass, paper_learner
from pairvdn.learning import replay as memory
from pairvdn.learning.records import Transition
from pairvdn.learning.updater import Updater
from pairvdn.values.networks import GroupNetwork

BATCH, HIDDEN, UPDATES, ROUNDS = 32, (128, 128), 100, 5


def cpu_seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    jax.block_until_ready(run())
    return time.process_time() - start


def best_of(rounds: int, *runs: Callable[[], Any]) -> list[float]:
    """The least CPU time of each; they take turns, so that disturbances affect all of them."""
    times = [[cpu_seconds(run) for run in runs] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def random_replay(env: Any, rows: int) -> memory.Replay[Transition]:
    """A full replay of noise with the shapes of the environment."""
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


def updates_of(method: str, env: Any) -> Callable[[], Any]:
    """`UPDATES` updates of this method as one compiled function, sampling included."""
    updater = Updater(
        values.maker(method, env.spec), TransitionLoss(env), optimiser=optax.sgd(1e-4)
    )
    replay = random_replay(env, BATCH * UPDATES)
    learned = jax.jit(updater.init)(jax.random.PRNGKey(0))
    learn = jax.jit(updater.learn, static_argnums=2)
    return lambda: learn(learned, replay, WholePass(BATCH), jax.random.PRNGKey(0), jnp.int32(0))


def products(rows: int, sizes: Sequence[int], *, double_q: bool = False) -> Callable[[], Any]:
    """The floor: `UPDATES` times the matrix products of one update of such a network.

    A network without biases and activations: forward for the value and for its target (and, under
    double Q-learning, for the choice of the next actions), then the gradients of the weights and of
    all inputs but the first layer's. The error and a step of the weights keep XLA from dropping any
    product. The gradient of a layer with few outputs is computed in the faster of two orders, as
    `values/rows.py` does.
    """
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    start = [
        jax.random.normal(key, shape) / shape[0] ** 0.5
        for key, shape in zip(keys, pairwise(sizes), strict=False)
    ]
    x, following = jax.random.normal(keys[-1], (2, rows, sizes[0]))

    def forward(weights: list[Any], x: Any) -> list[Any]:
        layers = [x]
        for weight in weights:
            layers.append(layers[-1] @ weight)
        return layers

    def gradient(inputs: Any, error: Any) -> Any:
        if error.shape[1] >= inputs.shape[1]:
            return inputs.T @ error
        return jax.lax.optimization_barrier(error.T @ inputs).T

    def one(_: Any, carry: Any) -> Any:
        weights, target = carry
        layers, error = forward(weights, x), forward(target, following)[-1]
        error = error - layers[-1]
        if double_q:
            error = error + 1e-9 * forward(weights, following)[-1]
        after = []
        for index in reversed(range(len(weights))):
            after.append(weights[index] + 1e-9 * gradient(layers[index], error))
            if index > 0:
                error = error @ weights[index].T
        return after[::-1], weights

    run = jax.jit(lambda weights: jax.lax.fori_loop(0, UPDATES, one, (weights, weights)))
    return lambda: run(start)


def floor_of(method: str, env: Any) -> Callable[[], Any]:
    """The products of the method's main network; its inputs include identifiers (the paper)."""

    def payoffs(key: Any) -> Any:
        value = values.maker(method, env.spec)(key=key)
        _, timestep = env.reset(key)
        actions = jnp.zeros(env.num_agents, jnp.int32)
        seen = tables(env, value, timestep.observation, timestep.state)
        return value.pairs(seen, actions).payoffs

    shape = jax.eval_shape(
        lambda key: values.maker(method, env.spec)(key=key), jax.random.PRNGKey(0)
    )
    paired = isinstance(shape, values.HasPairs)
    groups = jax.eval_shape(payoffs, jax.random.PRNGKey(0)).shape[0] if paired else env.num_agents
    members = 2 if paired else 1
    inputs = members * (env.observation_size + env.num_agents)
    return products(BATCH * groups, (inputs, *HIDDEN, env.num_actions**members))


def compare(num_agents: int, methods: Sequence[str]) -> None:
    env = envs.make("box-jump", num_boxes=num_agents)
    for method in methods:
        update, floor = updates_of(method, env), floor_of(method, env)
        first = cpu_seconds(update)
        cpu_seconds(floor)
        seconds, least = best_of(ROUNDS, update, floor)
        print(
            f"| {method} | {num_agents} | {UPDATES / seconds:,.0f} | {1e3 * seconds / UPDATES:.2f} "
            f"| {1e3 * least / UPDATES:.2f} | {seconds / least:.2f} | {first:.1f} |",
            flush=True,
        )


def recipe(preset: str) -> None:
    """An update with all settings of a preset whose value has one pair per agent and offsets."""
    config = load_preset(preset)
    env = config.build_env()
    learner = config.build_learner(env)
    minibatches, updater = learner.minibatches, learner.updater
    assert isinstance(minibatches, RandomBatches)
    batch, count, sizes = minibatches.batch_size, minibatches.num_updates, config.method.arguments
    replay = random_replay(env, 20 * batch)
    learned = jax.jit(updater.init)(jax.random.PRNGKey(0))
    learn = jax.jit(updater.learn, static_argnums=2)
    rows, inputs = batch * env.num_agents, 2 * env.observation_size + 2
    floor = products(rows, (inputs, *sizes["hidden_sizes"], env.num_actions**2), double_q=True)

    def update() -> Any:
        return learn(learned, replay, minibatches, jax.random.PRNGKey(0), jnp.int32(1))

    for run in (update, floor):
        cpu_seconds(run)
    seconds, least = best_of(ROUNDS, update, floor)
    seconds, least = seconds / count, least / UPDATES
    print(
        f"| {preset} | {1 / seconds:,.0f} | {1e3 * seconds:.2f} | {1e3 * least:.2f} "
        f"| {seconds / least:.2f} |"
    )


def first_layers(num_agents: int, methods: Sequence[str]) -> None:
    """The two equivalent ways to compute the first layer of a pair network, in one update."""
    env = envs.make("box-jump", num_boxes=num_agents)
    per_group, per_agent = GroupNetwork.product_per_group, GroupNetwork.product_per_agent
    for method in methods:
        runs = []
        for way in (per_group, per_agent):
            with (
                mock.patch.object(GroupNetwork, "product_per_group", way),
                mock.patch.object(GroupNetwork, "product_per_agent", way),
            ):
                runs.append(updates_of(method, env))
                cpu_seconds(runs[-1])  # compiled while patched
        groups, agents = (1e3 * seconds / UPDATES for seconds in best_of(ROUNDS, *runs))
        print(
            f"| {method} | {num_agents} | {groups:.2f} | {agents:.2f} | {agents / groups:.2f} |",
            flush=True,
        )


def growth(method: str, sizes: Sequence[int]) -> None:
    for num_agents in sizes:
        update = updates_of(method, envs.make("box-jump", num_boxes=num_agents))
        cpu_seconds(update)
        (seconds,) = best_of(ROUNDS, update)
        per_update = 1e3 * seconds / UPDATES
        print(f"| {num_agents} | {per_update:.2f} | {per_update / num_agents:.3f} |", flush=True)


def whole_run(num_epochs: int) -> None:
    """The paper's protocol: pairvdn, 16 boxes, no rotation."""
    env = envs.make("box-jump", num_boxes=16, fixed_rotation=True)
    learner = paper_learner(env, values.maker("pairvdn", env.spec), num_epochs=num_epochs)
    begin = time.process_time()
    state = jax.jit(learner.init)(jax.random.PRNGKey(0))
    epoch = jax.jit(learner.epoch, donate_argnums=0).lower(state).compile()
    compiled = time.process_time() - begin
    for _ in range(num_epochs):
        state, metrics = epoch(state)
    jax.block_until_ready(state)
    total = time.process_time() - begin
    print(
        f"{num_epochs} epochs, {int(state.env_steps):,} steps, {int(state.updates):,} updates: "
        f"{total:.0f} s of one core, {compiled:.0f} s of them compilation and random play; "
        f"last loss {float(metrics.loss):.3g}"
    )


def main() -> None:
    # Bind to one core before XLA counts the cores.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--grow", type=int, nargs="*", default=[8, 16, 32, 64, 128])
    methods = [name for name in values.names() if name != "dqn"]
    parser.add_argument("--methods", nargs="*", default=methods, choices=methods)
    parser.add_argument("--run", action="store_true", help="also train with the paper's protocol")
    parser.add_argument("--epochs", type=int, default=100, help="epochs of that run")
    arguments = parser.parse_args()
    print("| method | agents | updates/s | ms | products alone, ms | ratio | first call, s |")
    print("|---|---|---|---|---|---|---|")
    for num_agents in arguments.agents:
        compare(num_agents, arguments.methods)
    paired = [name for name in arguments.methods if name.startswith("pairvdn")]
    paired = [name for name in paired if name != "pairvdn-learned"]  # its pairs have no such layer
    if paired:
        print("\n| method | agents | first layer per pair, ms | per agent, ms | ratio |")
        print("|---|---|---|---|---|")
        for num_agents in arguments.agents:
            first_layers(num_agents, paired)
    if arguments.grow:
        print("\n| agents (pairvdn) | ms per update | ms per agent |\n|---|---|---|")
        growth("pairvdn", arguments.grow)
    print("\n| preset | updates/s | ms | products alone, ms | ratio |\n|---|---|---|---|---|")
    recipe("box-jump/pairvdn-sorted")
    if arguments.run:
        print()
        whole_run(arguments.epochs)


if __name__ == "__main__":
    main()
