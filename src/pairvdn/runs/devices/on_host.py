"""Arrays that lie on the devices of several processes, brought to every host."""

import functools
import math

import jax
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

# Each device holds a copy of one piece at a time: a replay that was divided would not fit whole.
PIECE_BYTES = 64 * 2**20


def on_host(array: jax.Array | np.ndarray, piece_bytes: int = PIECE_BYTES) -> np.ndarray:
    """The whole array. All processes must ask for the same arrays, in the same order."""
    if isinstance(array, np.ndarray) or array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    sharding = array.sharding
    assert isinstance(sharding, NamedSharding)  # whoever divides arrays here names the axes
    axis = _longest_undivided(array.shape, sharding.spec)
    if axis is None or array.nbytes <= piece_bytes:
        return np.asarray(_piece(sharding)(array, 0, 0, array.shape[0]))
    whole = np.empty(array.shape, array.dtype)
    length = array.shape[axis]
    step = min(length, max(1, piece_bytes * length // array.nbytes))
    for start in range(0, length, step):
        start = min(start, length - step)  # pieces are equally long, so the last two may overlap
        place = (slice(None),) * axis + (slice(start, start + step),)
        whole[place] = np.asarray(_piece(sharding)(array, start, axis, step))
    return whole


def _longest_undivided(shape: tuple[int, ...], spec: P) -> int | None:
    names = [*spec, *[None] * (len(shape) - len(spec))]
    free = [axis for axis, name in enumerate(names) if name is None]
    return max(free, key=lambda axis: shape[axis]) if math.prod(shape) and free else None


@functools.cache
def _piece(sharding: NamedSharding) -> jax.stages.Wrapped:
    """Cuts a piece and gives it to every device."""

    def cut(array: jax.Array, start: jax.Array, axis: int, length: int) -> jax.Array:
        return jax.lax.dynamic_slice_in_dim(array, start, length, axis)

    return jax.jit(cut, static_argnums=(2, 3), out_shardings=NamedSharding(sharding.mesh, P()))
