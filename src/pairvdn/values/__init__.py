"""Joint values: a network, a combination of its tables, and a maximiser."""

import importlib
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from pairvdn.checks import hint
from pairvdn.types import PRNGKey
from pairvdn.values.agents import HasUtilities
from pairvdn.values.base import Encoder, Value
from pairvdn.values.pairs import HasPairs, Pairs

# One line per method: name -> where its class is. Imported only when it is made.
_REGISTRY: dict[str, str] = {
    "dcg": "pairvdn.values.dcg:Dcg",
    "dqn": "pairvdn.values.dqn:Dqn",
    "iql": "pairvdn.values.iql:Iql",
    "pairvdn": "pairvdn.values.pairvdn:PairVdn",
    "pairvdn-nearest": "pairvdn.values.nearest:NearestPairVdn",
    "pairvdn-sorted": "pairvdn.values.sorted_ring:SortedPairVdn",
    "pairvdn-weighted": "pairvdn.values.weighted:WeightedPairVdn",
    "qmix": "pairvdn.values.qmix:Qmix",
    "vdn": "pairvdn.values.vdn:Vdn",
    "vdn-neighbours": "pairvdn.values.vdn_neighbours:NeighbourVdn",
}


def names() -> tuple[str, ...]:
    """The methods that `make` knows."""
    return tuple(sorted(_REGISTRY))


def constructor(method: str) -> Callable[..., Value[Any]]:
    """What builds the value called `method`: its signature says which arguments there are."""
    if method not in _REGISTRY:
        raise ValueError(f"There is no method {method!r}; {hint(method, _REGISTRY)}")
    module, _, attribute = _REGISTRY[method].partition(":")
    found: Callable[..., Value[Any]] = getattr(importlib.import_module(module), attribute)
    return found


def make(
    method: str,
    /,
    *,
    num_agents: int,
    num_actions: int,
    observation_size: int,
    state_size: int,
    key: PRNGKey,
    **arguments: Any,
) -> Value[Any]:
    """Build the value called `method` for these sizes; `arguments` go to its constructor."""
    build = constructor(method)
    sizes = {
        "num_agents": num_agents,
        "num_actions": num_actions,
        "observation_size": observation_size,
        "state_size": state_size,
    }
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, but is {size}.")
    return build(**sizes, key=key, **arguments)


@runtime_checkable
class HasSizes(Protocol):
    """What a value must know of an environment."""

    @property
    def num_agents(self) -> int:
        """Number of agents n."""
        ...

    @property
    def num_actions(self) -> int:
        """Number of actions a of each agent."""
        ...

    @property
    def observation_size(self) -> int:
        """Length o of each agent's observation."""
        ...

    @property
    def state_size(self) -> int:
        """Length s of the global state."""
        ...


def maker(method: str, env: HasSizes, /, **arguments: Any) -> Callable[..., Value[Any]]:
    """What learners build values with: a function of `key` alone, for the sizes of `env`."""

    def make_value(*, key: PRNGKey) -> Value[Any]:
        return make(
            method,
            num_agents=env.num_agents,
            num_actions=env.num_actions,
            observation_size=env.observation_size,
            state_size=env.state_size,
            key=key,
            **arguments,
        )

    return make_value


__all__ = [
    "Encoder",
    "HasPairs",
    "HasUtilities",
    "Pairs",
    "Value",
    "constructor",
    "make",
    "maker",
    "names",
]
