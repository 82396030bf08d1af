"""Where the arrays of a run are: on one device, or sharded by environments or by seeds."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from pairvdn.learning import Learner, LearnerState, Metrics, Schedules
from pairvdn.learning.devices import AXIS
from pairvdn.learning.sharding import ShardedLearner, dealt, gathered
from pairvdn.runs.devices.processes import SINGLE, ProcessGroup, all_processes

# Each device holds a copy of one piece at a time: a whole sharded replay would not fit.
PIECE_BYTES = 64 * 2**20

Function = Callable[..., Any]


def _unchanged(tree: Any) -> Any:
    return tree


def _call(function: Function, learned: Any, keys: Any) -> Any:
    return function(learned, keys)


@dataclasses.dataclass(frozen=True)
class Layout:
    """How the functions of a learner run on devices, and how its trees get there and back.

    On the host a state always has the form of a single device, so that checkpoints do not depend
    on the layout.
    """

    name: str  # for messages, and to notice that a run is resumed in another layout
    init: Callable[[Any], LearnerState]  # for one seed, as is `epoch`
    epoch: Callable[[LearnerState, Schedules], tuple[LearnerState, Metrics]]
    # A tree as numpy arrays, with the shapes that it has on the devices.
    on_host: Callable[[Any], Any]
    # A copy of a dealt state on the devices; True for a stack of the states of several seeds.
    put: Callable[[LearnerState, bool], LearnerState]
    group: ProcessGroup = SINGLE
    # A function for one seed -> the function for all seeds, along a leading axis.
    over_seeds: Callable[[Function], Function] = jax.vmap
    # The tree of one seed from `on_host`, in the form of a single device, and the inverse.
    gathered: Callable[[Any], Any] = _unchanged
    dealt: Callable[[Any], Any] = _unchanged
    # Calls a compiled evaluation with the learned part of a state and the keys of the seeds.
    evaluate: Callable[[Function, Any, Any], Any] = _call


def on_one_device(learner: Learner) -> Layout:
    """Everything on the default device."""
    return Layout(
        name="one device",
        init=learner.init,
        epoch=learner.epoch,
        on_host=functools.partial(jax.tree.map, np.asarray),  # views if the device is the host
        put=lambda state, _: jax.tree.map(jnp.array, state),
    )


def sharded_envs(learner: Learner, mesh: Mesh) -> Layout:
    """Every device has a share of the environments, of the replay and of each batch."""
    group, sharded = all_processes(), ShardedLearner(learner, mesh)

    def put(state: LearnerState, stacked: bool) -> LearnerState:
        def to_devices(leaf: np.ndarray, sharding: NamedSharding) -> jax.Array:
            spec = P(None, *sharding.spec) if stacked else sharding.spec
            return _copied(leaf, NamedSharding(sharding.mesh, spec))

        there: LearnerState = jax.tree.map(to_devices, state, sharded.shardings)
        return there

    def evaluate(function: Function, learned: Any, keys: Any) -> Any:
        """On the copy of one device; the result of the first process counts."""
        copy = jax.tree.map(lambda leaf: leaf.addressable_data(0), learned)
        return group.first(np.asarray(function(copy, keys)))

    return Layout(
        name=f"environments over {_described(mesh, group)}",
        init=sharded.init,
        epoch=lambda state, _: sharded.epoch(state),  # schedules are a part of the program
        on_host=functools.partial(jax.tree.map, whole_on_host),
        put=put,
        group=group,
        gathered=functools.partial(gathered, count=mesh.size),
        dealt=functools.partial(dealt, count=mesh.size),
        evaluate=evaluate,
    )


def sharded_seeds(learner: Learner, mesh: Mesh) -> Layout:
    """Every device trains some of the seeds; nothing is exchanged."""
    group, sharding = all_processes(), NamedSharding(mesh, P(AXIS))

    def put(state: LearnerState, stacked: bool) -> LearnerState:
        assert stacked  # a single seed cannot be sharded
        there: LearnerState = jax.tree.map(lambda leaf: _copied(leaf, sharding), state)
        return there

    def over_seeds(function: Function) -> Function:
        return jax.shard_map(
            jax.vmap(function),
            mesh=mesh,
            in_specs=P(AXIS),
            out_specs=P(AXIS),
            check_vma=False,  # nothing is shared
        )

    return Layout(
        name=f"seeds over {_described(mesh, group)}",
        init=learner.init,
        epoch=learner.epoch,
        on_host=functools.partial(jax.tree.map, whole_on_host),
        put=put,
        group=group,
        over_seeds=over_seeds,
    )


def _described(mesh: Mesh, group: ProcessGroup) -> str:
    devices = f"{mesh.size} devices"
    return devices if group.size == 1 else f"{devices} of {group.size} processes"


def _copied(leaf: np.ndarray, sharding: NamedSharding) -> jax.Array:
    if leaf.size == 0:  # XLA does not shard empty arrays, and neither do compiled results
        sharding = NamedSharding(sharding.mesh, P())
    # Every process has the whole leaf and copies only the shards of its own devices.
    return jax.make_array_from_callback(leaf.shape, sharding, lambda part: np.array(leaf[part]))


def whole_on_host(array: jax.Array | np.ndarray, piece_bytes: int = PIECE_BYTES) -> np.ndarray:
    """A whole array, whose shards may be on devices of other processes.

    All processes must ask for the same arrays, in the same order.
    """
    if isinstance(array, np.ndarray) or array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    sharding = array.sharding
    assert isinstance(sharding, NamedSharding)  # `_copied` and `ShardedLearner` make no other
    axis = _longest_unsharded(array.shape, sharding.spec)
    if axis is None or array.nbytes <= piece_bytes:
        return np.asarray(_piece(sharding)(array, 0, 0, array.shape[0]))
    whole = np.empty(array.shape, array.dtype)
    length = array.shape[axis]
    step = min(length, max(1, piece_bytes * length // array.nbytes))
    for start in range(0, length, step):
        start = min(start, length - step)  # pieces are equally long, so the last two may overlap
        index = (slice(None),) * axis + (slice(start, start + step),)
        whole[index] = np.asarray(_piece(sharding)(array, start, axis, step))
    return whole


def _longest_unsharded(shape: tuple[int, ...], spec: P) -> int | None:
    names = [*spec, *[None] * (len(shape) - len(spec))]
    free = [axis for axis, name in enumerate(names) if name is None]
    return max(free, key=lambda axis: shape[axis]) if math.prod(shape) and free else None


@functools.cache
def _piece(sharding: NamedSharding) -> jax.stages.Wrapped:
    """Cut a piece and copy it to every device."""

    def cut(array: jax.Array, start: jax.Array, axis: int, length: int) -> jax.Array:
        return jax.lax.dynamic_slice_in_dim(array, start, length, axis)

    return jax.jit(cut, static_argnums=(2, 3), out_shardings=NamedSharding(sharding.mesh, P()))
