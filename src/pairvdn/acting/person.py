"""A person in the team: the person chooses for one agent, a policy for the others.

The person's action is fixed, and the others take the best joint action that contains it,

    max over a_j, j ≠ i, of Q(a_1, .., a_i = the person's, .., a_n),

which is the ordinary maximisation with a mask that leaves agent i one action. A pair-wise value
thus answers the person within the same step, exactly. The agents of IQL, VDN and QMIX each maximise
alone: they do not react before the next observation.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int32, PyTree

from pairvdn.acting.policy import Policy
from pairvdn.types import PRNGKey, TimeStep


class PersonPolicy(Policy):
    """`choose` asks the person for the action of `agent`; `others` answers for the rest.

    It runs on the host, since a person cannot be compiled; `others` is compiled.
    """

    others: Policy
    agent: int = eqx.field(static=True)
    choose: Callable[[TimeStep], int] = eqx.field(static=True)

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the other agents."""
        return self.others.init(key)

    def act(
        self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], PyTree[Array]]:
        """The person's action and the others' answer to it."""
        fixed = with_fixed_action(timestep, self.agent, self.choose(timestep))
        return _act(self.others, key, carry, fixed)


def with_fixed_action(timestep: TimeStep, agent: int, action: int) -> TimeStep:
    """The time step with a mask that leaves `agent` this one action.

    An action that is not allowed is fixed as well: the environment takes it as its no-op.
    """
    only = jnp.arange(timestep.mask.shape[1]) == action
    fixed: TimeStep = eqx.tree_at(lambda one: one.mask, timestep, timestep.mask.at[agent].set(only))
    return fixed


@eqx.filter_jit
def _act(
    policy: Policy, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep
) -> tuple[Int32[Array, " n"], PyTree[Array]]:
    return policy.act(key, carry, timestep)
