"""Divergence: detect it, keep the last finite parameters, suggest remedies."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int32, PyTree


class Divergence(eqx.Module):
    """The first update that would have exceeded the bound, if any.

    `loss` and `parameter` are the loss and the largest absolute parameter of that update, before
    it was rejected: they may be inf or NaN. All are 0 until it happens.
    """

    happened: Bool[Array, ""]
    epoch: Int32[Array, ""]  # from 1
    update: Int32[Array, ""]
    loss: Float[Array, ""]
    parameter: Float[Array, ""]


def none_yet() -> Divergence:
    """The record of a run that has not diverged."""
    return Divergence(jnp.bool_(False), jnp.int32(0), jnp.int32(0), jnp.float32(0), jnp.float32(0))


def largest(parameters: PyTree[Array]) -> Float[Array, ""]:
    """The largest absolute number in the floating-point leaves; NaN if there is a NaN."""
    leaves = jax.tree.leaves(eqx.filter(parameters, eqx.is_inexact_array))
    return jnp.max(jnp.stack([jnp.max(jnp.abs(leaf), initial=0.0) for leaf in leaves]))


def observe(
    divergence: Divergence,
    *,
    loss: Float[Array, ""],
    parameter: Float[Array, ""],
    bound: float,
    epoch: Int32[Array, ""],
    update: Int32[Array, ""],
) -> Divergence:
    """Note the first update whose loss or parameters are not at most `bound` (NaN never is)."""
    sound = (loss <= bound) & (parameter <= bound)
    now = Divergence(~sound, epoch, update, loss, parameter)
    noted: Divergence = optax.tree.where(~divergence.happened & ~sound, now, divergence)
    return noted


class Diverged(Exception):  # noqa: N818 - reads better than DivergedError
    """Learning exceeded the bound; the state holds the last parameters within it."""


def raise_if_diverged(divergence: Divergence) -> None:
    """Raise `Diverged`, naming the update and possible remedies; for a single run."""
    if not divergence.happened:
        return
    raise Diverged(
        f"Learning diverged in epoch {int(divergence.epoch)} at update {int(divergence.update)}: "
        f"loss {float(divergence.loss):.3g}, largest parameter {float(divergence.parameter):.3g}. "
        "The parameters from just before it are kept. Try a smaller learning rate, a gradient "
        "clip (10), the Huber loss, a target that moves more slowly, or smaller rewards."
    )
