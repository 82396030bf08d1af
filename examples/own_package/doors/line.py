"""A method of your own: tables for neighbours in a row, and the exact maximum along it."""

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn import maximise
from pairvdn.types import EnvSpec
from pairvdn.values import Pairs, Value


class Line(Value[Pairs]):
    """Q(o, a) = Σ_i Q_i((o_i, o_(i+1)), (a_i, a_(i+1))) with one network for all pairs.

    Args:
        width: number of hidden units
    """

    network: eqx.nn.MLP
    num_actions: int = eqx.field(static=True)

    num_heads = 1  # one joint value

    def __init__(self, spec: EnvSpec, *, width: int = 32, key):
        self.num_actions = spec.num_actions
        outputs = spec.num_actions**2
        self.network = eqx.nn.MLP(2 * spec.observation_size, outputs, width, depth=1, key=key)

    def tables(self, observation, state, positions=None):
        """Run the network on every pair of neighbours."""
        pairs = jnp.concatenate([observation[:-1], observation[1:]], axis=1)
        tables = jax.vmap(self.network)(pairs)
        payoffs = tables.reshape(-1, self.num_actions, self.num_actions)
        return Pairs(maximise.path_edges(observation.shape[0]), payoffs, utilities=None)

    def evaluate(self, tables, actions):
        """The sum over all pairs."""
        return maximise.evaluate(tables.payoffs, tables.edges, actions)[None]

    def greedy(self, tables, mask):
        """The exact maximum along the row."""
        best = maximise.path(tables.payoffs, mask=mask)
        return best.actions, best.value[None]

    def pairs(self, tables):
        """Lets `pairvdn watch` show who coordinates with whom."""
        return tables
