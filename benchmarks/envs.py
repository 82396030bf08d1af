"""Steps per second of every environment, beside mpe2's and JaxMARL's Simple Spread.

CPU times of one thread, all in one process; ratios mean more than the numbers themselves. Random
allowed actions and resets are included. mpe2 and JaxMARL are measured if they are installed.

    python benchmarks/envs.py [--envs NAME or NAME/VARIANT ...] [--batches 1 8 256]
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pairvdn import envs

ROUNDS = 3  # the fastest counts
STEPS_PER_CALL = 4096  # of all copies together, but at least LEAST each
LEAST = 64


def steps_per_second(run: Callable[[], Any], steps: int) -> float:
    """Steps per CPU second, in the best of several runs after one that compiles."""
    jax.block_until_ready(run())
    seconds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        jax.block_until_ready(run())
        seconds.append(time.process_time() - begin)
    return steps / min(seconds)


def random_actions(key: jax.Array, mask: jax.Array) -> jax.Array:
    preferences = jax.random.uniform(key, mask.shape)
    return jnp.where(mask, preferences, -1.0).argmax(axis=-1).astype(jnp.int32)


def choose(condition: jax.Array, yes: Any, no: Any) -> Any:
    return jax.tree.map(lambda one, other: jnp.where(condition, one, other), yes, no)


def ours(name: str, batch: int) -> float:
    name, _, variant = name.partition("/")
    env = envs.make(name, variant=variant) if variant else envs.make(name)
    length = max(LEAST, STEPS_PER_CALL // batch)

    def act(now: Any, key: jax.Array) -> tuple[Any, Any]:
        keys = jax.random.split(key, (3, batch))
        actions = jax.vmap(random_actions)(keys[0], now[1].mask)
        after = jax.vmap(env.step)(keys[1], now[0], actions)
        ended = after[1].terminated | after[1].truncated

        def reset() -> Any:
            return jax.vmap(choose)(ended, jax.vmap(env.reset)(keys[2]), after)

        # Every output that learners use is read, so the compiler cannot drop any computation.
        seen = (after[1].reward, after[1].observation.sum(), after[1].state.sum())
        return jax.lax.cond(ended.any(), reset, lambda: after), seen

    @jax.jit
    def run(key: jax.Array) -> Any:
        start = jax.vmap(env.reset)(jax.random.split(key, batch))
        return jax.lax.scan(act, start, jax.random.split(key, length))[1]

    return steps_per_second(lambda: run(jax.random.key(0)), batch * length)


def jaxmarl_simple_spread(batch: int) -> float:
    from pairvdn.envs.adapters.jaxmarl.original import library

    env = library().make("MPE_simple_spread_v3")
    length = max(LEAST, STEPS_PER_CALL // batch)

    def act(state: Any, key: jax.Array) -> tuple[Any, Any]:
        keys = jax.random.split(key, env.num_agents + 1)
        actions = {
            agent: env.action_space(agent).sample(agent_key)
            for agent, agent_key in zip(env.agents, keys[1:], strict=True)
        }
        _, state, rewards, _, _ = env.step(keys[0], state, actions)
        return state, rewards

    def play(key: jax.Array) -> Any:
        return jax.lax.scan(act, env.reset(key)[1], jax.random.split(key, length))[1]

    run, keys = jax.jit(jax.vmap(play)), jax.random.split(jax.random.PRNGKey(0), batch)
    return steps_per_second(lambda: run(keys), batch * length)


def mpe2_simple_spread(steps: int = 1000) -> float:
    """Steps per second of one copy: mpe2 has no batches."""
    from mpe2 import simple_spread_v3

    env, generator = simple_spread_v3.parallel_env(), np.random.default_rng(0)

    def play() -> None:
        for step in range(steps):
            if step % 25 == 0:
                env.reset()
            env.step({agent: int(generator.integers(5)) for agent in env.agents})

    return steps_per_second(play, steps)


def row(label: str, speeds: Sequence[float | None]) -> None:
    cells = ["" if speed is None else f"{speed:,.0f}" for speed in speeds]
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", nargs="+", default=envs.names())
    parser.add_argument("--batches", nargs="+", type=int, default=(1, 8, 256))
    arguments = parser.parse_args()
    print("Steps per CPU second\n")
    print("| environment | " + " | ".join(f"batch {batch}" for batch in arguments.batches) + " |")
    print("|---|" + "---|" * len(arguments.batches))
    for name in arguments.envs:
        row(name, [ours(name, batch) for batch in arguments.batches])
    if importlib.util.find_spec("mpe2"):
        single = mpe2_simple_spread()
        row("mpe2's simple spread", [single if batch == 1 else None for batch in arguments.batches])
    if importlib.util.find_spec("jaxmarl"):
        speeds = [jaxmarl_simple_spread(batch) for batch in arguments.batches]
        row("JaxMARL's simple spread", speeds)


if __name__ == "__main__":
    main()
