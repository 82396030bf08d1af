"""Choosing between two whole records by one flag."""

from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

Tree = TypeVar("Tree")


def choose(condition: Bool[Array, ""], yes: Tree, no: Tree) -> Tree:
    """`yes` where the condition holds, else `no`, in every leaf."""
    chosen: Tree = jax.tree.map(lambda one, other: jnp.where(condition, one, other), yes, no)
    return chosen
