"""The interface of collectors, and the blocks of transitions that they return."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.acting.policy import Actor
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Task
from pairvdn.learning.records import Transition
from pairvdn.learning.targets import n_step_return
from pairvdn.types import PRNGKey

Env = TypeVar("Env", bound=Task)
State = TypeVar("State")  # of a loop


class AgentStep(eqx.Module):
    """The transition of one agent step, and whether its episode ended there, for any reason."""

    transition: Transition
    ended: Bool[Array, ""]


class CollectStats(eqx.Module):
    """Sums over the collected agent steps."""

    env_steps: Int32[Array, ""]
    episodes: Int32[Array, ""]
    returns: Float[Array, ""]

    @staticmethod
    def zero() -> "CollectStats":
        """Before the first step."""
        return CollectStats(jnp.int32(0), jnp.int32(0), jnp.float32(0))


# The collector's state, the collected block, and its statistics.
Collected = tuple[PyTree[Array], Transition, CollectStats]


@dataclasses.dataclass(eq=False)
class Collects(abc.ABC, Generic[Env]):
    """Collects blocks of transitions from `num_envs` copies of an environment.

    A block has `length` x `num_envs` transitions, oldest first. Each covers a window of `n_step`
    agent steps, cut short where its episode ends, and every action is repeated for `action_repeat`
    environment steps.
    """

    env: Env
    _: dataclasses.KW_ONLY
    num_envs: int = 1
    action_repeat: int = 1
    n_step: int = 1
    discount: float = 0.99

    def __post_init__(self) -> None:
        require_at_least(
            1, num_envs=self.num_envs, action_repeat=self.action_repeat, n_step=self.n_step
        )
        require_within(0, 1, discount=self.discount)

    @abc.abstractmethod
    def start(self, key: PRNGKey, actor: Actor, length: int) -> Collected:
        """Start every environment and collect a first block.

        This takes `n_step` - 1 more agent steps, so that the last window is full too.
        """

    @abc.abstractmethod
    def restart(self, collecting: Any, actor: Actor, key: PRNGKey) -> Any:
        """Start new episodes in all environments; running ones are cut off, as if truncated."""

    @abc.abstractmethod
    def collect(self, collecting: Any, actor: Actor, key: PRNGKey, length: int) -> Collected:
        """Take `length` agent steps in every environment."""

    @abc.abstractmethod
    def shape(self, actor: Actor, length: int) -> Collected:
        """The shapes of the result of `start`."""

    @abc.abstractmethod
    def repeat(
        self, step: Callable[[State], tuple[State, Any]], start: State, length: int
    ) -> tuple[State, Any]:
        """Repeat a step that collects; its other results are stacked."""

    @abc.abstractmethod
    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """Compile a function that does not collect, unless its caller is compiled anyway.

        `donate` lets the function reuse the memory of its first argument.
        """


def windows(steps: AgentStep, starts: int, n_step: int) -> Transition:
    """Fold [starts + n_step - 1, envs] agent steps into [starts * envs] transitions."""
    first = jnp.arange(starts, dtype=jnp.int32)
    window = first[:, None] + jnp.arange(n_step, dtype=jnp.int32)[None, :]

    def fold(steps: AgentStep) -> Transition:  # of one environment
        each = steps.transition
        rewards, discounts, last = jax.vmap(n_step_return)(
            each.reward_t[window], each.discount_t[window], steps.ended[window]
        )
        end = first + last
        folded: Transition = eqx.tree_at(
            lambda t: (t.reward_t, t.discount_t, t.observation_t, t.state_t, t.mask_t),
            jax.tree.map(lambda leaf: leaf[:starts], each),
            (rewards, discounts, each.observation_t[end], each.state_t[end], each.mask_t[end]),
        )
        return folded

    block = jax.vmap(fold, in_axes=1, out_axes=1)(steps)
    flat: Transition = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), block)
    return flat
