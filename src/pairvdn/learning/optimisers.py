"""Step sizes as inputs of a compiled program: runs that differ only in them share the program."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int32


class LinearDecay(NamedTuple):
    """A step size: `first` up to the update `start`, then linear to `last` in `length` updates."""

    first: float | Float[Array, ""]
    last: float | Float[Array, ""]
    start: int | Int32[Array, ""]
    length: int | Int32[Array, ""]

    def at(self, update: Int32[Array, ""]) -> Float[Array, ""]:
        """The step size of the update with this index."""
        first, last, start, length = (jnp.asarray(x, jnp.float32) for x in self)
        done = jnp.clip(update.astype(jnp.float32) - start, 0.0, length) / length
        return (first - last) * (1.0 - done) + last


class DecayingOptimiser(optax.GradientTransformationExtraArgs):  # type: ignore[misc]
    """Steps of the size `decay` along a `direction`, such as `optax.scale_by_adam()`.

    Like any optimiser of optax, whose state has the number of updates. `update` also takes a
    `decay`, which replaces the optimiser's own: as an input it is no part of the program.
    """

    decay: LinearDecay

    def __new__(
        cls, direction: optax.GradientTransformation, decay: LinearDecay
    ) -> "DecayingOptimiser":
        """Optax's optimisers are named tuples, which are made here and not in `__init__`."""
        own = decay

        def init(parameters: Any) -> Any:
            return direction.init(parameters), optax.ScaleByScheduleState(jnp.int32(0))

        def update(
            gradient: Any,
            state: Any,
            parameters: Any = None,
            *,
            decay: LinearDecay | None = None,
            **_: Any,
        ) -> Any:
            of_direction, (count,) = state
            steps, of_direction = direction.update(gradient, of_direction, parameters)
            size = -(own if decay is None else decay).at(count)
            steps = jax.tree.map(lambda step: size.astype(step.dtype) * step, steps)
            count = optax.safe_increment(count)
            return steps, (of_direction, optax.ScaleByScheduleState(count))

        optimiser: DecayingOptimiser = super().__new__(cls, init, update)
        optimiser.decay = own
        return optimiser


class Schedules(eqx.Module):
    """The numbers of an epoch that depend on schedules: inputs of its compiled program."""

    epsilons: Float[Array, " envs"]  # of the environments on all devices
    decay: LinearDecay | None  # of the step sizes; None: a part of the program
