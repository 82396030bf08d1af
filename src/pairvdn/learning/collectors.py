"""What a learner needs of whoever steps its environments, and who steps which."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, PyTree

from pairvdn.envs import Environment, HostEnvironment, Task
from pairvdn.learning.collect import Carry, Collector, CollectStats, Policy
from pairvdn.learning.host_collect import HostCollector
from pairvdn.learning.records import Transition
from pairvdn.types import PRNGKey

# Where collection stands, the block that was collected, and what it sums up to.
Collected = tuple[PyTree[Array], Transition, CollectStats]


@runtime_checkable
class Collects(Protocol):
    """A collector, on the device or on the host."""

    num_envs: int
    action_repeat: int

    @property
    def env(self) -> Task:
        """The environment of which there are copies."""
        ...

    def start(self, key: PRNGKey, policy: Policy, decisions: int) -> Collected:
        """Start every environment and collect a first block of `decisions` x `num_envs`."""
        ...

    def collect(self, collecting: Any, policy: Policy, key: PRNGKey, decisions: int) -> Collected:
        """Go on from there for another block."""
        ...

    def shape(self, decisions: int) -> Collected:
        """What `start` returns, without its numbers."""
        ...

    def repeat(
        self, step: Callable[[Carry], tuple[Carry, Any]], start: Carry, length: int
    ) -> tuple[Carry, Any]:
        """Do a step that collects so many times; what else the steps return is stacked."""
        ...

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """A function that collects nothing, compiled, unless all around it is compiled anyway.

        `donate` lets it write into the memory of its first argument.
        """
        ...


def collector_for(env: Task, **arguments: Any) -> Collects:
    """A collector of copies of `env`: on the device, or on the host if that is where it lives."""
    if isinstance(env, HostEnvironment):
        return HostCollector(env, **arguments)
    if isinstance(env, Environment):
        return Collector(env, **arguments)
    raise ValueError(
        f"{type(env).__name__} can be stepped neither on the device (Environment) nor on the host "
        "(HostEnvironment); an environment of PettingZoo becomes the latter by from_pettingzoo."
    )
