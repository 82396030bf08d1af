"""The paper's two pictures, maximised exactly: a wall, and cars at a crossroads.

The wall falls only if all agents hit it at once: a pair that hits together gains 1, a pair in which
only one hits loses 1. A car that goes gains 1; two neighbours that go at once crash and lose 10.
Both values are sums over a ring of pairs. A value per agent has to average over the neighbours'
actions. For a car this average says "stop", so no car ever goes.
"""

import time

import jax
import jax.numpy as jnp

from pairvdn import maximise

AGENTS = 16


def main() -> None:
    wall = jnp.tile(jnp.array([[0.0, -1.0], [-1.0, 1.0]]), (AGENTS, 1, 1))
    best = maximise.ring(wall)
    print(f"{AGENTS} agents before a wall, {2**AGENTS} joint actions")
    print(f"  the best of all:     {int(best.actions.sum())} hit, worth {best.value:.0f}")
    tired = jnp.ones((AGENTS, 2), bool).at[3, 1].set(False)
    rest = maximise.ring(wall, mask=tired)
    print(f"  if agent 3 cannot:   {int(rest.actions.sum())} hit, worth {rest.value:.0f}")

    crash = jnp.tile(jnp.array([[0.0, 0.0], [0.0, -10.0]]), (AGENTS, 1, 1))
    going = jnp.tile(jnp.array([0.0, 1.0]), (AGENTS, 1))
    edges = maximise.ring_edges(AGENTS)
    together = maximise.ring(crash, utilities=going)
    print(f"{AGENTS} cars around a ring of crossings")
    print(f"  the best of all:     {int(together.actions.sum())} go, worth {together.value:.0f}")
    # A value per agent, learned while the others act at random: means over both neighbours.
    means = going + crash.mean(axis=2) + jnp.roll(crash.mean(axis=1), 1, axis=0)
    alone = means.argmax(axis=1).astype(jnp.int32)
    worth = maximise.evaluate(crash, edges, alone, utilities=going)
    print(f"  each car for itself: {int(alone.sum())} go, worth {worth:.0f}")
    oracle = maximise.brute_force(crash, edges, utilities=going)
    print(f"  trying everything:   {int(oracle.actions.sum())} go, worth {oracle.value:.0f}")

    batch = jax.random.normal(jax.random.key(0), (4096, AGENTS, 4, 4))
    many = jax.jit(jax.vmap(maximise.ring))
    jax.block_until_ready(many(batch))
    start = time.perf_counter()
    jax.block_until_ready(many(batch))
    milliseconds = 1e3 * (time.perf_counter() - start)
    print(f"4096 random rings of {AGENTS} agents with 4 actions: {milliseconds:.1f} ms, exact")


if __name__ == "__main__":
    main()
