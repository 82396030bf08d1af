"""Speed of Box Jump beside raw Box2D, on one core: `python benchmarks/box_jump.py`.

CPU times of one process; ours is the fastest of several repetitions. Our step is an environment
step with observation and reward under `jax.vmap`. A Box2D step is only its C++ `world.Step`, on the
same boxes with random actions.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 "
    + os.environ.get("XLA_FLAGS", "")
)
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import jax
import jax.numpy as jnp
import numpy as np
from box2d_world import start_like

from pairvdn.envs.box_jump.env import BoxJump

STEPS = 20
REPETITIONS = 5


def cpu_seconds(function: Callable[[], Any]) -> float:
    """CPU time of the fastest repetition."""
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        jax.block_until_ready(function())
        times.append(time.process_time() - start)
    return min(times)


def ours(env: BoxJump, batch: int, *, in_lanes: bool = False) -> tuple[float, float]:
    """Microseconds of an environment step, and seconds of compilation."""
    if in_lanes:
        axes, step = -1, env.step_in_lanes
    else:
        axes, step = (
            0,
            lambda state, actions: jax.vmap(env.step, (None, 0, 0))(None, state, actions),
        )
    keys = jax.random.split(jax.random.key(0), batch)
    state = jax.jit(jax.vmap(env.reset, out_axes=axes))(keys)[0]
    shape = (env.num_agents, batch) if in_lanes else (batch, env.num_agents)

    def run(state: Any, key: jax.Array) -> Any:
        def one(carry: Any, key: jax.Array) -> Any:
            state, seen = carry
            actions = (jax.random.bits(key, shape, jnp.uint8) & 3).astype(jnp.int32)
            state, outcome = step(state, actions)
            # Every output is used, so the compiler cannot drop any computation.
            return (state, seen + sum(jnp.sum(x) for x in jax.tree.leaves(outcome))), None

        return jax.lax.scan(one, (state, jnp.float32(0)), jax.random.split(key, STEPS))[0]

    start = time.perf_counter()
    compiled = jax.jit(run).lower(state, jax.random.key(1)).compile()
    compilation = time.perf_counter() - start
    for seed in range(4):  # let the boxes meet
        state, _ = compiled(state, jax.random.key(seed))
    seconds = cpu_seconds(lambda: compiled(state, jax.random.key(9)))
    return 1e6 * seconds / (STEPS * batch), compilation


def box2d(env: BoxJump, episodes: int = 4, steps: int = 200) -> float:
    """Microseconds of `world.Step`, the mean over steps."""
    generator = np.random.default_rng(0)
    seconds = []
    reset = jax.jit(env.reset)
    for seed in range(episodes):
        world = start_like(reset(jax.random.key(seed))[0], env.parameters)

        def timed(*arguments: Any, step: Any = world.physics) -> None:
            start = time.process_time()
            step(*arguments)
            seconds.append(time.process_time() - start)

        world.physics = timed
        for _ in range(steps):
            world.step(generator.integers(0, 4, env.num_agents))
    return 1e6 * float(np.mean(seconds))


def report(label: str, env: BoxJump, batch: int, reference: float, **how: Any) -> float:
    microseconds, compilation = ours(env, batch, **how)
    print(
        f"{label:34s} {batch:5d} {microseconds:9.2f} us {1e6 / microseconds:10,.0f} steps/s "
        f"{reference / microseconds:6.2f} x Box2D   compiled in {compilation:4.1f} s",
        flush=True,
    )
    return microseconds


def main() -> None:
    print(f"{'':34s} batch   per step")
    for fixed in (False, True):
        kind = "without rotation" if fixed else "with rotation"
        env = BoxJump(fixed_rotation=fixed)
        raw = box2d(env)
        print(f"{'Box2D, 16, ' + kind:34s} {1:5d} {raw:9.2f} us {1e6 / raw:10,.0f} steps/s")
        times = {b: report(f"16 boxes, {kind}", env, b, raw) for b in (1, 64, 256, 1024)}
        last = report("the same, batch as the last axis", env, 256, raw, in_lanes=True)
        for boxes in (8, 32, 64):
            other = BoxJump(num_boxes=boxes, fixed_rotation=fixed)
            raw_other = box2d(other)
            batch = 256 if boxes == 8 else 64
            times[-boxes] = report(f"{boxes} boxes, {kind}", other, batch, raw_other)
        print(
            f"  time of vmap / batch last: {times[256] / last:.2f}"
            f"; batch 1024 / 256: {times[1024] / times[256]:.2f}"
            f"; 64 boxes / four times 16 boxes: {times[-64] / (4 * times[256]):.2f}\n"
        )


if __name__ == "__main__":
    main()
