"""The interface of collectors, and their statistics."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.acting.policy import Actor
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Task
from pairvdn.learning.recorders import Recorder, Windows
from pairvdn.types import PRNGKey

Env = TypeVar("Env", bound=Task)
State = TypeVar("State")  # of a loop


class CollectStats(eqx.Module):
    """Sums over the collected agent steps."""

    env_steps: Int32[Array, ""]
    episodes: Int32[Array, ""]
    returns: Float[Array, ""]

    @staticmethod
    def zero() -> "CollectStats":
        """Before the first step."""
        return CollectStats(jnp.int32(0), jnp.int32(0), jnp.float32(0))


# The collector's state, the collected block of items, and its statistics.
Collected = tuple[Any, Any, CollectStats]


@dataclasses.dataclass(eq=False)
class Collects(abc.ABC, Generic[Env]):
    """Collects blocks of items from `num_envs` copies of an environment.

    The `recorder` cuts the items, transitions or sequences, from the streams of agent steps. A
    block has the items of `length` agent steps in every environment, oldest first. Every action is
    repeated for `action_repeat` environment steps.
    """

    env: Env
    _: dataclasses.KW_ONLY
    num_envs: int = 1
    action_repeat: int = 1
    discount: float = 0.99
    recorder: Recorder[Any, Any] = dataclasses.field(default_factory=Windows)

    def __post_init__(self) -> None:
        require_at_least(1, num_envs=self.num_envs, action_repeat=self.action_repeat)
        require_within(0, 1, discount=self.discount)

    def num_items(self, length: int) -> int:
        """The number of items in a block of `length` agent steps."""
        return length // self.recorder.stride * self.num_envs

    @abc.abstractmethod
    def start(self, key: PRNGKey, actor: Actor, length: int) -> Collected:
        """Start every environment and collect a first block.

        This takes as many more agent steps as items overlap, so that the last item is full too.
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
