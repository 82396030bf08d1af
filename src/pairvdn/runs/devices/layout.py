"""Where the arrays of a training lie: on one device, or on several, by environments or by seeds."""

import abc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from pairvdn.runs.devices.on_host import on_host
from pairvdn.runs.devices.process_group import SINGLE, ProcessGroup, all_processes
from pairvdn.learning import Learner, LearnerState, Metrics
from pairvdn.learning.devices import AXIS
from pairvdn.learning.sharding import ShardedLearner, dealt, gathered


class Layout(abc.ABC):
    """How the functions of a learner run on devices, and how its trees get there and back.

    `init` and `epoch` are for one seed. On the host a state is always that of a single device, so
    that checkpoints do not depend on the layout.
    """

    name: str  # for people, and to notice that a run goes on in another layout
    group: ProcessGroup
    init: Callable[[Any], LearnerState]
    epoch: Callable[[LearnerState], tuple[LearnerState, Metrics]]

    @abc.abstractmethod
    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of one seed's arguments as one of all seeds', which are their leading axis."""

    @abc.abstractmethod
    def on_host(self, tree: Any) -> Any:
        """A tree of one or of all seeds as numpy arrays, shaped as they are on the devices."""

    @abc.abstractmethod
    def gathered(self, tree: Any) -> Any:
        """What `on_host` gave, of one seed, as a single device has it."""

    @abc.abstractmethod
    def dealt(self, tree: Any) -> Any:
        """The inverse of `gathered`."""

    @abc.abstractmethod
    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """A state that was dealt, copied to the devices; with `seeds`, a stack of states."""

    @abc.abstractmethod
    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Call what evaluates `learned`, which is compiled for one device or `over_seeds`."""


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
        """Views, where the device is the host."""
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
        """Simply call it."""
        return function(learned, keys)


class ShardedEnvs(Layout):
    """Every device has some of the environments, of the replay and of each batch."""

    def __init__(self, learner: Learner, mesh: Mesh) -> None:
        self.group = all_processes()
        self.name = f"environments over {_described(mesh, self.group)}"
        self._count = mesh.size
        self._divided = ShardedLearner(learner, mesh)
        self.init, self.epoch = self._divided.init, self._divided.epoch

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """All seeds at once, each on all devices."""
        return jax.vmap(function)

    def on_host(self, tree: Any) -> Any:
        """The parts of all devices side by side."""
        return jax.tree.map(on_host, tree)

    def gathered(self, tree: Any) -> Any:
        """With the rows of the replay in one line."""
        return gathered(tree, self._count)

    def dealt(self, tree: Any) -> Any:
        """With the rows of the replay dealt to the devices."""
        return dealt(tree, self._count)

    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """Every part to its device."""

        def to_devices(leaf: np.ndarray, sharding: NamedSharding) -> jax.Array:
            spec = P(None, *sharding.spec) if seeds else sharding.spec
            return _copied(leaf, NamedSharding(sharding.mesh, spec))

        there: LearnerState = jax.tree.map(to_devices, state, self._divided.shardings)
        return there

    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Call it with a device's own copy of what all have; the first process is believed."""
        copy = jax.tree.map(lambda leaf: leaf.addressable_data(0), learned)
        return self.group.first(np.asarray(function(copy, keys)))


class ShardedSeeds(Layout):
    """Every device trains some of the seeds, and none needs another one."""

    def __init__(self, learner: Learner, mesh: Mesh) -> None:
        self.group = all_processes()
        self.name = f"seeds over {_described(mesh, self.group)}"
        self._mesh = mesh
        self.init, self.epoch = learner.init, learner.epoch

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Those of a device at once, on all devices at once."""
        return jax.shard_map(
            jax.vmap(function),
            mesh=self._mesh,
            in_specs=P(AXIS),
            out_specs=P(AXIS),
            check_vma=False,  # nothing is common
        )

    def on_host(self, tree: Any) -> Any:
        """The seeds of all devices in one line."""
        return jax.tree.map(on_host, tree)

    def gathered(self, tree: Any) -> Any:
        """As it is: a seed lies on one device."""
        return tree

    def dealt(self, tree: Any) -> Any:
        """As it is."""
        return tree

    def put(self, state: LearnerState, *, seeds: bool) -> LearnerState:
        """Every seed to its device."""
        assert seeds  # a single one cannot be divided
        sharding = NamedSharding(self._mesh, P(AXIS))
        there: LearnerState = jax.tree.map(lambda leaf: _copied(leaf, sharding), state)
        return there

    def call_greedy(self, function: Callable[..., Any], learned: Any, keys: Any) -> Any:
        """Every device plays with the seeds that it has."""
        return function(learned, keys)


def _described(mesh: Mesh, group: ProcessGroup) -> str:
    devices = f"{mesh.size} devices"
    return devices if group.size == 1 else f"{devices} of {group.size} processes"


def _copied(leaf: np.ndarray, sharding: NamedSharding) -> jax.Array:
    if leaf.size == 0:  # XLA divides no empty array, and what is compiled expects what it returns
        sharding = NamedSharding(sharding.mesh, P())
    # Every process has the whole leaf and copies only what its own devices need.
    return jax.make_array_from_callback(leaf.shape, sharding, lambda part: np.array(leaf[part]))
