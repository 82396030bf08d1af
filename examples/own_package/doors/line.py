"""A method: tables for neighbours in a row, and the exact maximum along it."""

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn.types import EnvSpec
from pairvdn.values import Pairs, SumOverPairs
from pairvdn.values.encoders import NoEncoder
from pairvdn.values.graphs import FixedGraph


class Line(SumOverPairs):
    """Q(o, a) = Σ_i Q_i((o_i, o_(i+1)), (a_i, a_(i+1))) with one network for all pairs.

    Args:
        width: number of hidden units
    """

    encoder: NoEncoder
    graph: FixedGraph
    network: eqx.nn.MLP

    def __init__(self, spec: EnvSpec, *, width: int = 32, key):
        self.encoder = NoEncoder(spec)  # the features are the observations
        self.graph = FixedGraph("path", spec.num_agents)
        outputs = spec.num_actions**2
        self.network = eqx.nn.MLP(2 * spec.observation_size, outputs, width, depth=1, key=key)

    def compute_tables(self, inputs):
        """Run the network on every pair of neighbours."""
        h = inputs.features
        tables = jax.vmap(self.network)(jnp.concatenate([h[:-1], h[1:]], axis=1))
        actions = self.spec.num_actions
        return Pairs(self.graph.fixed_edges, tables.reshape(-1, actions, actions), utilities=None)
