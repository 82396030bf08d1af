"""QPLEX: advantages of single agents, weighted by the state and the joint action."""

from typing import Any, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.heads import UtilityHead
from pairvdn.values.networks import Mlp, NetworkArguments, bounded
from pairvdn.values.rows import rows_product
from pairvdn.values.utilities import best, chosen


class QplexTables(eqx.Module):
    """The agents' utilities, and the parts of the mixture that depend on the state only."""

    utilities: Float[Array, "n a"]  # w_i(s) Q_i(h_i, ·) + b_i(s)
    keys: Float[Array, "k n"]  # the weights of the attention heads, for each agent
    joint: Float[Array, " j"]  # the state's part of the hidden layer that reads the joint action


class Qplex(Value[QplexTables]):
    """Q(o, s, a) = Σ_i V_i + Σ_i λ_i(s, a) A_i with q_i = w_i(s) Q_i(h_i, ·) + b_i(s), w, λ > 0.

    Wang et al., arXiv 2008.01062. V_i = max q_i and A_i = q_i(a_i) - V_i ≤ 0, so each agent's own
    best action is the best joint action, and λ may depend on the actions of all agents: every value
    with that property can be represented. λ_i(s, a) = Σ_k key_k(s) σ(f_ki(s)) σ(g_ki(s, a)). As in
    the original code, the gradient to Q_i is that of λ = 1.

    Args:
        mixing_size: width of the hidden layers of the networks that read the state.
        attention_heads: number of terms k of λ.
    """

    encoder: Encoder[Any]
    agents: UtilityHead
    affine: Mlp  # s -> w, b
    attention: Mlp  # s -> keys, f
    joint: Mlp  # (s, a) -> g
    attention_heads: int = eqx.field(static=True)
    num_heads = 1

    def __init__(
        self,
        spec: EnvSpec,
        *,
        mixing_size: int = 64,
        attention_heads: int = 4,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_at_least(1, mixing_size=mixing_size, attention_heads=attention_heads)
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        keys = jax.random.split(key, 4)
        self.agents = UtilityHead(self.encoder, key=keys[0], **heads)
        self.attention_heads = attention_heads
        n, size, hidden = spec.num_agents, spec.state_size, (mixing_size,)
        # Small last layers: w, the keys and λ start near 1, and b near 0.
        small: dict[str, Any] = {"hidden_sizes": hidden, "final_scale": 0.1}
        self.affine = Mlp(size, 2 * n, key=keys[1], **small)
        self.attention = Mlp(size, attention_heads * (n + 1), key=keys[2], **small)
        actions = n * spec.num_actions
        self.joint = Mlp(size + actions, attention_heads * n, key=keys[3], **small)

    def compute_tables(self, inputs: Inputs) -> QplexTables:
        """q_i(h_i, ·), and everything that depends on the state only."""
        state = bounded(inputs.state)[None]
        n = self.spec.num_agents
        scale, offset = jnp.split(self.affine(state)[0], 2)
        keys, agents = jnp.split(self.attention(state)[0], [self.attention_heads])
        attention = jax.nn.sigmoid(agents.reshape(self.attention_heads, n))
        # Four heads of σ(0) σ(0) = 1/4 make a λ of 1; other numbers are scaled to start there too.
        start = 4 / self.attention_heads
        return QplexTables(
            utilities=jnp.abs(1 + scale)[:, None] * self.agents(inputs) + offset[:, None],
            keys=start * jnp.abs(1 + keys)[:, None] * attention,
            joint=rows_product(state, self.joint.weights[0][: state.shape[1]])[0],
        )

    def evaluate(self, tables: QplexTables, actions: Int32[Array, " n"]) -> Float[Array, " 1"]:
        """Σ_i q_i(a_i) + Σ_i (λ_i(s, a) - 1) A_i: the same sum, with λ = 1 in the gradient to q."""
        n, num_actions = tables.utilities.shape
        taken = (actions[:, None] == jnp.arange(num_actions)[None]).astype(jnp.float32)
        own = rows_product(taken.reshape(1, -1), self.joint.weights[0][self.spec.state_size :])
        outputs = self.joint.after_first_product(own + tables.joint[None])[0]
        weights = (tables.keys * jax.nn.sigmoid(outputs.reshape(-1, n))).sum(axis=0)
        values = chosen(tables.utilities, actions)
        advantages = jax.lax.stop_gradient(values - tables.utilities.max(axis=1))
        return (values + (weights - 1) * advantages).sum(keepdims=True)

    def greedy(
        self, tables: QplexTables, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """Each agent's own best action, which is the best joint action."""
        actions, values = best(tables.utilities, mask)
        decided = (actions >= 0).all()
        value = self.evaluate(self.with_mask(tables, mask), jnp.maximum(actions, 0))
        return jnp.where(decided, actions, -1), jnp.where(decided, value, values.sum())

    def with_mask(self, tables: QplexTables, mask: Bool[Array, "n a"]) -> QplexTables:
        """Tables whose V_i are those of the best allowed actions.

        Masked actions are never trained. Their utilities may be the largest, and then the best
        allowed action would have an advantage below 0, and a weight.
        """
        _, values = best(tables.utilities, mask)
        filled = jnp.where(mask, tables.utilities, values[:, None])
        masked: QplexTables = eqx.tree_at(lambda t: t.utilities, tables, filled)
        return masked

    def utilities(self, tables: QplexTables) -> Float[Array, "n a"]:
        """The utilities that the mixture weighs."""
        return tables.utilities
