"""Where the arrays of a run are: on one device, or sharded by environments or by seeds."""

import abc
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from pairvdn.learning import Learner, LearnerState, Metrics
from pairvdn.learning.devices import AXIS
from pairvdn.learning.sharding import ShardedLearner, dealt, gathered
from pairvdn.runs.devices.process_group import SINGLE, ProcessGroup, all_processes

# Each device holds a copy of one piece at a time: a sharded replay would not fit as a whole.
PIECE_BYTES = 64 * 2**20


class Layout(abc.ABC):
    """How the functions of a learner run on devices, and how its trees get there and back.

    `init` and `epoch` are for one seed. On the host a state is always that of a single device, so
    that checkpoints do not depend on the layout.
    """

    name: str  # for messages, and to notice that a run is resumed in another layout
    group: ProcessGroup
    init: Callable[[Any], LearnerState]
    epoch: Callable[[LearnerState], tuple[LearnerState, Metrics]]

    @abc.abstractmethod
    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of one seed's arguments, for all seeds as their leading axis."""

    @abc.abstractmethod
    def on_host(self, tree: Any) -> Any:
        """A tree of one or of all seeds as numpy arrays of the shapes that the devices have."""

    @abc.abstractmethod
    def gathered(self, tree: Any) -> Any:
        """A tree of one seed from `on_host`, in the form of a single device."""

    @abc.abstractmethod
    def dealt(self, tree: Any) -> Any:
        """The inverse of `gathered`."""

    @abc.abstractmethod
    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """Copy a dealt state to the devices; with `seeds`, a stack of states."""

    @abc.abstractmethod
    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Call a function that evaluates `learned`, compiled for one device or `over_seeds`."""


class OnOneDevice(Layout):
    """Everything on the default device."""

    name = "one device"
    group = SINGLE

    def __init__(self, learner: Learner) -> None:
        self.init, self.epoch = learner.init, learner.epoch

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """All seeds at once."""
        return jax.vmap(function)

    def on_host(self, tree: Any) -> Any:
        """Views if the device is the host."""
        return jax.tree.map(np.asarray, tree)

    def gathered(self, tree: Any) -> Any:
        """As it is."""
        return tree

    def dealt(self, tree: Any) -> Any:
        """As it is."""
        return tree

    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """A copy."""
        del seeds
        copied: LearnerState = jax.tree.map(jnp.array, state)
        return copied

    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Call it."""
        return function(learned, keys)


class ShardedEnvs(Layout):
    """Every device has a share of the environments, of the replay and of each batch."""

    def __init__(self, learner: Learner, mesh: Mesh) -> None:
        self.group = all_processes()
        self.name = f"environments over {_described(mesh, self.group)}"
        self._count = mesh.size
        self._sharded = ShardedLearner(learner, mesh)
        self.init, self.epoch = self._sharded.init, self._sharded.epoch

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """All seeds at once, each on all devices."""
        return jax.vmap(function)

    def on_host(self, tree: Any) -> Any:
        """The shards of all devices side by side."""
        return jax.tree.map(whole_on_host, tree)

    def gathered(self, tree: Any) -> Any:
        """With the rows of the replay on one axis."""
        return gathered(tree, self._count)

    def dealt(self, tree: Any) -> Any:
        """With the rows of the replay dealt to the devices."""
        return dealt(tree, self._count)

    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """Every shard to its device."""

        def to_devices(leaf: np.ndarray, sharding: NamedSharding) -> jax.Array:
            spec = P(None, *sharding.spec) if seeds else sharding.spec
            return _copied(leaf, NamedSharding(sharding.mesh, spec))

        there: LearnerState = jax.tree.map(to_devices, state, self._sharded.shardings)
        return there

    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Call it with this device's copy; the result of the first process counts."""
        copy = jax.tree.map(lambda leaf: leaf.addressable_data(0), learned)
        return self.group.first(np.asarray(function(copy, keys)))


class ShardedSeeds(Layout):
    """Every device trains some of the seeds; nothing is exchanged."""

    def __init__(self, learner: Learner, mesh: Mesh) -> None:
        self.group = all_processes()
        self.name = f"seeds over {_described(mesh, self.group)}"
        self._mesh = mesh
        self.init, self.epoch = learner.init, learner.epoch

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """All seeds of a device at once, on all devices at once."""
        return jax.shard_map(
            jax.vmap(function),
            mesh=self._mesh,
            in_specs=P(AXIS),
            out_specs=P(AXIS),
            check_vma=False,  # nothing is shared
        )

    def on_host(self, tree: Any) -> Any:
        """The seeds of all devices on one axis."""
        return jax.tree.map(whole_on_host, tree)

    def gathered(self, tree: Any) -> Any:
        """As it is: a seed is on one device."""
        return tree

    def dealt(self, tree: Any) -> Any:
        """As it is."""
        return tree

    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """Every seed to its device."""
        assert seeds  # a single one cannot be sharded
        sharding = NamedSharding(self._mesh, P(AXIS))
        there: LearnerState = jax.tree.map(lambda leaf: _copied(leaf, sharding), state)
        return there

    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Every device plays with its own seeds."""
        return function(learned, keys)


def _described(mesh: Mesh, group: ProcessGroup) -> str:
    devices = f"{mesh.size} devices"
    return devices if group.size == 1 else f"{devices} of {group.size} processes"


def _copied(leaf: np.ndarray, sharding: NamedSharding) -> jax.Array:
    if leaf.size == 0:  # XLA does not shard empty arrays, and neither do compiled results
        sharding = NamedSharding(sharding.mesh, P())
    # Every process has the whole leaf and copies only the shards of its own devices.
    return jax.make_array_from_callback(leaf.shape, sharding, lambda part: np.array(leaf[part]))


def whole_on_host(array: jax.Array | np.ndarray, piece_bytes: int = PIECE_BYTES) -> np.ndarray:
    """The whole of an array whose shards may lie on devices of other processes.

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
        place = (slice(None),) * axis + (slice(start, start + step),)
        whole[place] = np.asarray(_piece(sharding)(array, start, axis, step))
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
