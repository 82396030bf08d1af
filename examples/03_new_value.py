"""Write a new value: pick an encoder, a graph and heads, or write any of them yourself.

Agents stand on a line and must not move to the same place. Each has three actions (left, stay,
right) with learned utilities. Two neighbours whose actions lead to the same place pay a learned
price. So this value has a head for the utilities, one number for the price, and a graph (a path)
on which the maximum is exact.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn import values
from pairvdn.types import EnvSpec
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph
from pairvdn.values.heads import UtilityHead

MOVES = jnp.array([-1.0, 0.0, 1.0])


class Polite(values.SumOverPairs):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) - price · Σ_i [agents i and i+1 would meet]."""

    encoder: Encoder
    agents: UtilityHead
    graph: FixedGraph  # also finds the best joint action
    price: jax.Array  # a parameter like any other: it has a gradient

    def __init__(self, spec, *, key, **network):
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.agents = UtilityHead(self.encoder, key=key, **heads)
        self.graph = FixedGraph("path", spec.num_agents)
        self.price = jnp.array(5.0)

    def compute_tables(self, inputs):
        """Run the networks once; `evaluate` and `greedy` read these tables."""
        places = inputs.require_positions()[:, :1] + MOVES[None]  # after each action, [n, a]
        meet = jnp.abs(places[:-1, :, None] - places[1:, None, :]) < 0.5
        return values.Pairs(
            edges=self.graph.fixed_edges,
            payoffs=-self.price * meet,
            utilities=self.agents(inputs),
        )


def main():
    spec = EnvSpec(num_agents=4, num_actions=3, observation_size=2, state_size=1)
    value = Polite(spec, key=jax.random.key(0))
    positions = jnp.array([[0.0], [1.0], [2.0], [3.0]])
    observation = jax.random.normal(jax.random.key(1), (4, 2))
    state = jnp.zeros(1)
    everything = jnp.ones((4, 3), dtype=bool)

    tables = value.tables_of(observation, state, positions)
    alone = jnp.argmax(tables.utilities, axis=1).astype(jnp.int32)
    together, best = value.greedy(tables, everything)
    print("each agent's favourite:", alone, "worth together", value.evaluate(tables, alone)[0])
    print("best joint action:     ", together, "worth", best[0])

    nobody_stays = everything.at[:, 1].set(False)
    actions, worth = value.greedy(tables, nobody_stays)
    print("if nobody may stay:    ", actions, "worth", worth[0])

    # Batch with vmap, learn with grad: training needs nothing else.
    batch = jax.random.normal(jax.random.key(2), (32, 4, 2))

    def loss(value):
        tables = jax.vmap(value.tables_of, in_axes=(0, None, None))(batch, state, positions)
        worth = jax.vmap(value.evaluate, in_axes=(0, None))(tables, alone)
        return ((worth - 1.0) ** 2).mean()

    slope = eqx.filter_grad(loss)(value)  # integer arrays, such as edges, have no gradient
    print("slope of the price:    ", slope.price)
    print("methods in the library:", ", ".join(values.names()))


if __name__ == "__main__":
    main()
