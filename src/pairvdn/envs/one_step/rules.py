"""What a joint action pays in each one-step game.

A *ring* of n agents has the n edges (i, i + 1 mod n). Two agents therefore share two edges, 0-1 and
1-0, exactly as a pair-wise value on a ring of two has two tables.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

# Nested tuples instead of arrays keep a game hashable, which `jax.jit(env.step)` needs.
Table = tuple[tuple[float, ...], ...]


class Payoff(eqx.Module):
    """The team's reward as a function of the joint action."""

    @abc.abstractmethod
    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The reward of the team."""


class MatrixPayoff(Payoff):
    """A table for two agents: `table[u_0][u_1]`."""

    table: Table = eqx.field(static=True)

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The entry that the two agents chose."""
        return jnp.asarray(self.table, jnp.float32)[actions[0], actions[1]]


class RingTablesPayoff(Payoff):
    """The sum over the ring of one table per edge: `sum_i tables[i][u_i][u_{i+1}]`."""

    tables: tuple[Table, ...] = eqx.field(static=True)

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The sum of the entries that the ends of each edge chose."""
        edges = jnp.arange(len(self.tables), dtype=jnp.int32)
        tables = jnp.asarray(self.tables, jnp.float32)
        return tables[edges, actions, jnp.roll(actions, -1)].sum()


class WallPayoff(Payoff):
    """The paper's wall: 1 if all hit (action 1), 0 if none does, -1 if only some do."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """All or nothing."""
        hits = actions == 1
        return jnp.where(hits.all(), 1.0, jnp.where(hits.any(), -1.0, 0.0))


class GradedWallPayoff(Payoff):
    """A wall that is a sum over the ring: `(2 * edges with both ends hitting - hitting) / n`."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """1 if all hit, 0 if none does, at most 0 otherwise."""
        hits = (actions == 1).astype(jnp.float32)
        return (2 * hits * jnp.roll(hits, -1) - hits).sum() / actions.shape[0]


class CrossroadsPayoff(Payoff):
    """Cars that go (action 1) less 10 for each crash of two neighbours on the ring."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """`sum_i g_i - 10 sum_i g_i g_{i+1}`."""
        going = (actions == 1).astype(jnp.float32)
        return (going - 10 * going * jnp.roll(going, -1)).sum()


class CrossroadsAllPayoff(Payoff):
    """Cars that go less 10 for each two that go: the paper's words, the complete graph."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """`g - 10 g (g - 1) / 2` for g cars that go."""
        going = (actions == 1).astype(jnp.float32).sum()
        return going - 5 * going * (going - 1)
