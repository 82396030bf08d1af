"""Which collector steps an environment."""

from typing import Any

from pairvdn.envs import Environment, HostEnvironment, Task
from pairvdn.learning.collect import Collector, Collects
from pairvdn.learning.host_collect import HostCollector


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
