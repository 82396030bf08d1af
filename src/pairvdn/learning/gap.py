"""How far greedy actions may be from the true maximum, where maximisation is approximate."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.acting.policy import tables
from pairvdn.envs import Task
from pairvdn.learning.losses import mean_where
from pairvdn.learning.records import Sequence, Transition
from pairvdn.learning.replay import Replay, take
from pairvdn.learning.sequence_losses import unroll
from pairvdn.values import HasMaximiser, Value


def maximisation_gap(
    env: Task, value: Value[Any], replay: Replay[Any], batch_size: int
) -> Float[Array, ""] | None:
    """Mean upper bound of max Q less the value of the greedy actions; None where they are exact.

    Over a batch from all of the replay. Without a replay it is not known: None.
    """
    if not isinstance(value, HasMaximiser) or value.maximiser.exact:
        return None
    if not jax.tree.leaves(replay.items):
        return None
    rows = jnp.arange(batch_size, dtype=jnp.int32) * replay.size // batch_size
    seen, mask, counted = _decisions(env, value, take(replay, rows))
    _, greedy = jax.vmap(value.greedy)(seen, mask)
    gap = jax.vmap(value.bound)(seen, mask)[:, None] - greedy
    return mean_where(counted & jnp.isfinite(gap[:, 0]), gap)


def _decisions(
    env: Task, value: Value[Any], batch: Transition | Sequence
) -> tuple[Any, Array, Array]:
    """Tables, masks, and which of them count, of all decisions in a batch: a flat leading axis."""
    if isinstance(batch, Transition):
        seen = jax.vmap(lambda o, s: tables(env, value, o, s))(batch.observation_t, batch.state_t)
        return seen, batch.mask_t, batch.discount_t > 0

    frames, seen = jax.vmap(lambda sequence: unroll(env, value, sequence, burn_in=0))(batch)
    flat: tuple[Any, Array, Array] = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (seen, frames.mask, frames.acted)
    )
    return flat
