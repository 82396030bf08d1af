"""The paper's wall: it falls only if all agents hit it in the same step.

A pair that hits together gains 1; who hits while the next agent waits hurts itself and loses 3.
Summed over the ring of pairs the best joint action is that all hit. An agent that averages over
what the others may do, as a per-agent value has to, would rather wait.
"""

import time

import jax
import jax.numpy as jnp

from pairvdn import maximise

HIT = 1  # action 0 is to wait


def main() -> None:
    num_agents = 16
    # What agents i and i+1 add to the value, by their two actions.
    table = jnp.array([[0.0, 0.0], [-3.0, 1.0]])
    payoffs = jnp.tile(table, (num_agents, 1, 1))

    together = maximise.ring(payoffs)
    print(f"{num_agents} agents before a wall, {2**num_agents} joint actions")
    print(f"  maximised over pairs: {describe(together.actions)}, worth {together.value:.0f}")

    # What VDN would fit if the others act at random: each agent's mean over its two neighbours.
    alone = jnp.argmax(payoffs.mean(axis=2) + payoffs.mean(axis=1), axis=1).astype(jnp.int32)
    worth = maximise.evaluate(payoffs, maximise.ring_edges(num_agents), alone)
    print(f"  each agent alone:     {describe(alone)}, worth {worth:.0f}")

    oracle = maximise.brute_force(payoffs, maximise.ring_edges(num_agents))
    print(f"  trying all of them:   {describe(oracle.actions)}, worth {oracle.value:.0f}")

    tired = jnp.ones((num_agents, 2), bool).at[3, HIT].set(False)
    without = maximise.ring(payoffs, mask=tired)
    print(f"  if agent 3 cannot:    {describe(without.actions)}, worth {without.value:.0f}")

    batch = jax.random.normal(jax.random.key(0), (4096, num_agents, 4, 4))
    many = jax.jit(jax.vmap(maximise.ring))
    jax.block_until_ready(many(batch))
    start = time.perf_counter()
    jax.block_until_ready(many(batch))
    seconds = time.perf_counter() - start
    print(f"4096 random rings of {num_agents} agents with 4 actions: {1e3 * seconds:.1f} ms, exact")


def describe(actions: jax.Array) -> str:
    hits = int((actions == HIT).sum())
    return {0: "all wait", len(actions): "all hit"}.get(hits, f"{hits} hit")


if __name__ == "__main__":
    main()
