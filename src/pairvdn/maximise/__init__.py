"""Maximising a sum of pair-wise tables over joint actions; see README.md in this folder.

All functions take ONE example and return a `Maximum`; batch them with `jax.vmap`.
"""

from pairvdn.maximise.brute_force import brute_force
from pairvdn.maximise.chain import path, ring
from pairvdn.maximise.eliminate import eliminate
from pairvdn.maximise.forest import successor, tree
from pairvdn.maximise.graphs import (
    evaluate,
    path_edges,
    ring_edges,
    successor_edges,
    tree_edges,
)
from pairvdn.maximise.max_plus import coordinate_ascent, max_plus
from pairvdn.types import Maximum

__all__ = [
    "Maximum",
    "brute_force",
    "coordinate_ascent",
    "eliminate",
    "evaluate",
    "max_plus",
    "path",
    "path_edges",
    "ring",
    "ring_edges",
    "successor",
    "successor_edges",
    "tree",
    "tree_edges",
]
