"""Joint values, built from an encoder, a graph, heads and a maximiser."""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from pairvdn.checks import hint
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs, ReadsMask, Value, penalty, second_opinion, with_mask
from pairvdn.values.encoders import Encoder
from pairvdn.values.graphs import Maximiser, Pairs
from pairvdn.values.pairs import HasMaximiser, HasPairs, SumOverPairs
from pairvdn.values.utilities import HasUtilities

# One line per method: its name and its class, or a function that picks one, imported on first use.
_REGISTRY: dict[str, str] = {
    "casec": "pairvdn.values.casec:Casec",
    "dcg": "pairvdn.values.dcg:Dcg",
    "dqn": "pairvdn.values.dqn:Dqn",
    "iql": "pairvdn.values.utilities:Iql",
    "pairvdn": "pairvdn.values.pairvdn:PairVdn",
    "pairvdn-learned": "pairvdn.values.learned:learned_pair_vdn",
    "pairvdn-nearest": "pairvdn.values.pairvdn:NearestPairVdn",
    "pairvdn-sorted": "pairvdn.values.pairvdn:SortedPairVdn",
    "pairvdn-weighted": "pairvdn.values.pairvdn:WeightedPairVdn",
    "qmix": "pairvdn.values.qmix:Qmix",
    "qplex": "pairvdn.values.qplex:Qplex",
    "sop-cg": "pairvdn.values.sop_cg:SopCg",
    "vdn": "pairvdn.values.utilities:Vdn",
    "vdn-neighbours": "pairvdn.values.utilities:NeighbourVdn",
}


def names() -> tuple[str, ...]:
    """The names of all methods."""
    return tuple(sorted(_REGISTRY))


def constructor(method: str) -> Callable[..., Value[Any]]:
    """The class of the method with this name, or a function; its signature lists the arguments."""
    if method not in _REGISTRY:
        raise ValueError(f"There is no method {method!r}; {hint(method, _REGISTRY)}")
    module, _, attribute = _REGISTRY[method].partition(":")
    method_class: Callable[..., Value[Any]] = getattr(importlib.import_module(module), attribute)
    return method_class


def make(method: str, spec: EnvSpec, /, *, key: PRNGKey, **arguments: Any) -> Value[Any]:
    """Build the value called `method` for these sizes; `arguments` go to its constructor."""
    return constructor(method)(spec, key=key, **arguments)


def maker(method: str, spec: EnvSpec, /, **arguments: Any) -> Callable[..., Value[Any]]:
    """`make` as a function of `key` only, for learners."""
    return partial(make, method, spec, **arguments)


__all__ = [
    "Encoder",
    "HasMaximiser",
    "HasPairs",
    "HasUtilities",
    "Inputs",
    "Maximiser",
    "Pairs",
    "ReadsMask",
    "SumOverPairs",
    "Value",
    "constructor",
    "make",
    "maker",
    "names",
    "penalty",
    "second_opinion",
    "with_mask",
]
