"""The interface of a collector, and which collector an environment needs."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, PyTree

from pairvdn.acting.policy import Actor
from pairvdn.envs import Environment, HostEnvironment, Task
from pairvdn.learning.collector import Collector, CollectStats, State
from pairvdn.learning.host_collector import HostCollector
from pairvdn.learning.records import Transition
from pairvdn.types import PRNGKey

# The collector's state, the collected block, and its statistics.
Collected = tuple[PyTree[Array], Transition, CollectStats]


@runtime_checkable
class Collects(Protocol):
    """A collector, on the device or on the host."""

    num_envs: int
    action_repeat: int

    @property
    def env(self) -> Task:
        """The environment that is copied."""
        ...

    def start(self, key: PRNGKey, actor: Actor, length: int) -> Collected:
        """Start every environment and collect a first block of `length` x `num_envs`."""
        ...

    def collect(self, collecting: Any, actor: Actor, key: PRNGKey, length: int) -> Collected:
        """Continue from there for another block."""
        ...

    def shape(self, actor: Actor, length: int) -> Collected:
        """The shapes of what `start` returns."""
        ...

    def repeat(
        self, step: Callable[[State], tuple[State, Any]], start: State, length: int
    ) -> tuple[State, Any]:
        """Repeat a step that collects; its other results are stacked."""
        ...

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """A function that does not collect, compiled unless all around it is compiled anyway.

        `donate` lets it write into the memory of its first argument.
        """
        ...


def collector_for(env: Task, **arguments: Any) -> Collects:
    """A collector of copies of `env`, on the device or on the host."""
    if isinstance(env, HostEnvironment):
        return HostCollector(env, **arguments)
    if isinstance(env, Environment):
        return Collector(env, **arguments)
    raise ValueError(
        f"{type(env).__name__} is neither an Environment, which is stepped on the device, nor a "
        "HostEnvironment; from_pettingzoo turns an environment of PettingZoo into the latter."
    )
