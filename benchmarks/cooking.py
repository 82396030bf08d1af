"""Speed of the kitchen, in environment steps per CPU second.

Run `python benchmarks/cooking.py`. Random actions, observations and state of every step computed;
the best of several rounds. The original (CookingZoo at 2c15f12, in Python) makes about 1,700.
"""

import time
from typing import Any

import jax
import jax.numpy as jnp

from pairvdn import envs

ORIGINAL = 1_700
PRESETS, BATCHES, ROUNDS = ("paper", "coop"), (1, 8, 256), 5
STEPS = 12_800  # of each round, whatever the batch


def steps_per_cpu_second(env: Any, batch: int) -> float:
    stream = envs.auto_reset(env)
    length = STEPS // batch

    @jax.jit
    def play(state: Any, key: Any) -> Any:
        def act(state: Any, key: Any) -> Any:
            action_key, step_key = jax.random.split(key)
            shape = (batch, env.num_agents)
            actions = jax.random.randint(action_key, shape, 0, env.num_actions, jnp.int32)
            state, told = jax.vmap(stream.step)(jax.random.split(step_key, batch), state, actions)
            return state, (told.reward.sum(), told.observation.sum(), told.state.sum())

        return jax.lax.scan(act, state, jax.random.split(key, length))

    keys = jax.random.split(jax.random.key(0), batch)
    state, _ = jax.jit(jax.vmap(stream.reset))(keys)
    best = float("inf")
    for round_key in jax.random.split(jax.random.key(1), ROUNDS + 1):  # the first one compiles
        start = time.process_time()
        state, _ = jax.block_until_ready(play(state, round_key))
        best = min(best, time.process_time() - start)
    return length * batch / best


def main() -> None:
    print("preset   batch   steps per CPU second   times the original")
    for preset in PRESETS:
        env = envs.make("cooking", preset=preset)
        for batch in BATCHES:
            speed = steps_per_cpu_second(env, batch)
            print(f"{preset:8} {batch:5} {speed:22,.0f} {speed / ORIGINAL:20.0f}", flush=True)


if __name__ == "__main__":
    main()
