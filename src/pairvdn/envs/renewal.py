"""A reset where an episode ended, paid for only when one did.

A plain `vmap` of "reset if ended" computes every reset at every step and then selects, which costs
a fast environment up to a third of its time, although episodes end seldom and often together. Here
a batch asks first whether ANY of it ended. That needs batching rules of our own, since `vmap` alone
turns every branch on an example's flag into a selection.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool

from pairvdn.envs.base import Environment, State
from pairvdn.types import PRNGKey, TimeStep


def renewed(
    env: Environment[State], ended: Bool[Array, ""], key: PRNGKey, old: tuple[State, TimeStep]
) -> tuple[State, TimeStep]:
    """What `env.reset(key)` returns if `ended`, else `old`; any number of `vmap`s may be around."""

    @custom_vmap
    def one(ended: Any, key: Any, old: Any) -> Any:
        return jax.lax.cond(ended, lambda: env.reset(key), lambda: old)

    @custom_vmap
    def many(ended: Any, keys: Any, old: Any) -> Any:
        return jax.lax.cond(ended.any(), lambda: _selected(env, ended, keys, old), lambda: old)

    @one.def_vmap
    def _(size: int, batched: Any, *arguments: Any) -> Any:
        result = many(*_all_batched(size, batched, arguments))
        return result, jax.tree.map(lambda _: True, result)

    @many.def_vmap
    def _(size: int, batched: Any, *arguments: Any) -> Any:
        # A batch of batches is one longer batch, so that the question stays a single one.
        arguments = _all_batched(size, batched, arguments)
        shape = arguments[0].shape
        flat = jax.tree.map(lambda leaf: leaf.reshape(math.prod(shape), *leaf.shape[2:]), arguments)
        result = jax.tree.map(lambda leaf: leaf.reshape(*shape, *leaf.shape[1:]), many(*flat))
        return result, jax.tree.map(lambda _: True, result)

    result: tuple[State, TimeStep] = one(ended, key, old)
    return result


def _selected(env: Environment[Any], ended: Bool[Array, " b"], keys: Any, old: Any) -> Any:
    """For each example of a batch a reset if it ended, else what it was."""

    def select(ended: Any, new: Any, old: Any) -> Any:
        return jax.tree.map(lambda fresh, stale: jnp.where(ended, fresh, stale), new, old)

    return jax.vmap(select)(ended, jax.vmap(env.reset)(keys), old)


def _all_batched(size: int, batched: Any, arguments: Any) -> Any:
    """Give those arguments the batch axis that do not have it."""
    return jax.tree.map(
        lambda has, leaf: leaf if has else jnp.broadcast_to(leaf, (size, *jnp.shape(leaf))),
        tuple(batched),
        arguments,
    )
