"""Write a new value: any network, any combination, any maximiser, behind one small contract.

The value of this example knows a rule of the road: agents that stand on a line must not move onto
the same place. Agents have three actions (left, stay, right) and a learned utility for each; pairs
of agents that are close enough to meet pay a learned price if they would. So it has a network for
utilities, one number for the price, and a graph (a path) on which the maximum is exact.
"""

import jax
import jax.numpy as jnp

from pairvdn import maximise, values
from pairvdn.values.agents import AgentNetwork

MOVES = jnp.array([-1.0, 0.0, 1.0])


class Polite(values.Value[values.Pairs]):
    """Q(o, a) = Σ_i Q_i(o_i, a_i) - price · Σ_i [agents i and i+1 would meet]."""

    agents: AgentNetwork
    price: jax.Array  # a parameter like any other: it has a gradient

    def __init__(self, *, num_agents, observation_size, key):
        self.agents = AgentNetwork(
            num_agents=num_agents, num_actions=3, observation_size=observation_size, key=key
        )
        self.price = jnp.array(5.0)

    @property
    def num_heads(self):
        """One joint value; a method with a value per agent would say num_agents."""
        return 1

    def tables(self, observation, state, positions=None):
        """Run the networks once; everything else reads these numbers."""
        places = positions[:, :1] + MOVES[None]  # where each action leads, [n, a]
        meet = jnp.abs(places[:-1, :, None] - places[1:, None, :]) < 0.5
        return values.Pairs(
            edges=maximise.path_edges(observation.shape[0]),
            payoffs=-self.price * meet,
            utilities=self.agents(observation),
        )

    def evaluate(self, tables, actions):
        """What a learner moves towards its target."""
        value = maximise.evaluate(tables.payoffs, tables.edges, actions, utilities=tables.utilities)
        return value[None]  # one head

    def greedy(self, tables, mask):
        """How the agents act, and the maximum in a target."""
        best = maximise.path(tables.payoffs, utilities=tables.utilities, mask=mask)
        return best.actions, best.value[None]

    def pairs(self, tables):
        """Optional: lets tools show who coordinates with whom."""
        return tables


def main():
    value = Polite(num_agents=4, observation_size=2, key=jax.random.key(0))
    positions = jnp.array([[0.0], [1.0], [2.0], [3.0]])
    observation = jax.random.normal(jax.random.key(1), (4, 2))
    state = jnp.zeros(1)
    everything = jnp.ones((4, 3), dtype=bool)

    tables = value.tables(observation, state, positions)
    alone = jnp.argmax(tables.utilities, axis=1).astype(jnp.int32)
    together, best = value.greedy(tables, everything)
    print("each agent's favourite:", alone, "worth together", value.evaluate(tables, alone)[0])
    print("best joint action:     ", together, "worth", best[0])

    nobody_stays = everything.at[:, 1].set(False)
    actions, worth = value.greedy(tables, nobody_stays)
    print("if nobody may stay:    ", actions, "worth", worth[0])

    # A batch is vmap, learning is grad: nothing else is needed to train it.
    batch = jax.random.normal(jax.random.key(2), (32, 4, 2))

    def loss(value):
        tables = jax.vmap(value.tables, in_axes=(0, None, None))(batch, state, positions)
        worth = jax.vmap(value.evaluate, in_axes=(0, None))(tables, alone)
        return ((worth - 1.0) ** 2).mean()

    slope = jax.grad(loss)(value)
    print("slope of the price:    ", slope.price)
    print("methods in the library:", ", ".join(values.names()))


if __name__ == "__main__":
    main()
