"""Records that several layers share, and the legend of axis names.

Shapes in this package are written with these letters:

| axis | meaning                  | axis | meaning                             |
|------|--------------------------|------|-------------------------------------|
| `n`  | agents                   | `e`  | edges: pairs of agents with a table |
| `a`  | actions of one agent     | `h`  | heads of a value (1, or one per agent) |
| `o`  | observation of one agent | `b`  | batch                               |
| `f`  | features of one agent    | `t`  | time                                |
| `s`  | global state             | `k`  | coordinates of a position           |

Functions are written for one example; batch them with `jax.vmap`.
"""

from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32, Key, UInt32

# A new-style key, or the uint32[2] of `jax.random.PRNGKey`; both work everywhere.
PRNGKey = Key[Array, ""] | UInt32[Array, "2"]


class Maximum(eqx.Module):
    """The best joint action that a maximiser found.

    `bound` is an upper bound on the true maximum; it equals `value` where the method is exact.
    If an agent has no allowed action `value` is -inf, if an allowed entry is NaN it is NaN, and in
    both cases every action is -1.
    """

    actions: Int32[Array, " n"]
    value: Float[Array, ""]
    bound: Float[Array, ""]


class TimeStep(eqx.Module):
    """The result of a reset or a step of an environment.

    Every method learns from `reward`, the sum of `agent_rewards` unless an environment declares
    otherwise. At a reset both are 0 and both flags False. If both flags are set, `terminated` wins:
    there is no future to bootstrap from.
    """

    observation: Float[Array, "n o"]
    state: Float[Array, " s"]
    mask: Bool[Array, "n a"]  # True: the action is allowed
    reward: Float[Array, ""]
    agent_rewards: Float[Array, " n"]
    terminated: Bool[Array, ""]
    truncated: Bool[Array, ""]


class EnvSpec(NamedTuple):
    """The sizes of an environment: everything a value must know to be built for it.

    Attributes:
        num_agents: number of agents n.
        num_actions: number of actions a of each agent.
        observation_size: length o of each agent's observation.
        state_size: length s of the global state.
        has_positions: whether the environment can locate its agents.
    """

    num_agents: int
    num_actions: int
    observation_size: int
    state_size: int
    has_positions: bool = False
