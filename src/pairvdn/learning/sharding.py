"""One learner sharded over D devices.

```
replicated     the value, its target, the optimiser, the key, all counts
sharded        environments (E / D on each device), replay (capacity / D), batch (B / D)
exchanged      the mean gradient in every update; sums over the collected data in every epoch
```
Replay rows are dealt like cards: row r is on device r mod D. So the rows in use come first, oldest
before newest, on every device as in the whole replay, and a state saved on D devices can be loaded
on any number of devices that divides its sizes.
"""

import dataclasses
from typing import Any, TypeVar

import equinox as eqx
import jax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from pairvdn.learning.collector import Collector, env_axes
from pairvdn.learning.devices import AXIS, Devices
from pairvdn.learning.learner import Learner, LearnerState
from pairvdn.learning.records import Metrics
from pairvdn.learning.replay import Replay
from pairvdn.types import PRNGKey

Tree = TypeVar("Tree")


class ShardedLearner:
    """A learner over the devices of a mesh with one axis, called `devices`.

    `init` and `epoch` are those of the learner, for all devices; they may be jitted and vmapped
    over keys or states. In their states the rows of the replay have two axes: the row on its
    device, and the device. `dealt` turns an ordinary state into such a state, `gathered` turns it
    back.
    """

    def __init__(self, whole: Learner, mesh: Mesh) -> None:
        self._part = part_of(whole, mesh.size)
        self.specs = _specs(whole.shape())
        self.shardings = jax.tree.map(lambda spec: NamedSharding(mesh, spec), self.specs)
        # Unchecked: the check requires every constant carried by a loop to be marked as varying,
        # also in third-party environments and optimisers. A test compares the replicas instead.
        self.init = jax.shard_map(
            self._init, mesh=mesh, in_specs=P(), out_specs=self.specs, check_vma=False
        )
        self.epoch = jax.shard_map(
            self._epoch,
            mesh=mesh,
            in_specs=(self.specs,),
            out_specs=(self.specs, P()),
            check_vma=False,
        )

    def _init(self, key: PRNGKey) -> LearnerState:
        return _with_device_axis(self._part.init(key))

    def _epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        state, metrics = self._part.epoch(_without_device_axis(state))
        return _with_device_axis(state), metrics


def part_of(whole: Learner, count: int) -> Learner:
    """The part of a learner on one of `count` devices; ValueError if it cannot be sharded."""
    collector = whole.collector
    if not isinstance(collector, Collector):
        raise ValueError(
            "Environments on the host cannot be sharded over devices; use a single device."
        )
    if collector.num_envs == 1 < count:
        raise ValueError(
            f"A learner with a single environment cannot be sharded over {count} devices: use the "
            "parallel learner, or shard several seeds."
        )

    def divide(name: str, number: int) -> int:
        if number % count:
            least = number - number % count
            near = f"{least} or {least + count}" if least else f"{count}"
            raise ValueError(
                f"{name} must be a multiple of the number of devices, {count}, not {number}; "
                f"use {near}."
            )
        return number // count

    batch_size, capacity = divide("batch_size", whole.minibatches.batch_size), whole.replay_capacity
    return dataclasses.replace(
        whole,
        collector=dataclasses.replace(collector, num_envs=divide("num_envs", collector.num_envs)),
        minibatches=dataclasses.replace(whole.minibatches, batch_size=batch_size),
        replay_capacity=None if capacity is None else divide("replay_capacity", capacity),
        devices=Devices(count),
    )


def dealt(tree: Tree, count: int) -> Tree:
    """Deal the rows of every replay in the tree to `count` devices."""

    def deal(replay: Replay[Any]) -> Replay[Any]:
        items = jax.tree.map(lambda leaf: leaf.reshape(-1, count, *leaf.shape[1:]), replay.items)
        return _replaced(replay, items, replay.position // count, replay.size // count)

    return _map_replays(deal, tree)


def gathered(tree: Tree, count: int) -> Tree:
    """Gather the rows of every replay in the tree from `count` devices."""

    def gather(replay: Replay[Any]) -> Replay[Any]:
        items = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), replay.items)
        return _replaced(replay, items, replay.position * count, replay.size * count)

    return _map_replays(gather, tree)


def _specs(shape: LearnerState) -> Any:
    """The sharded axis of every leaf; most leaves are replicated."""
    replicated = jax.tree.map(lambda _: P(), shape)
    sharded = (
        jax.tree.map(lambda axis: P(*[None] * axis, AXIS), env_axes(shape.collecting)),
        jax.tree.map(lambda _: P(None, AXIS), shape.replay.items),
    )
    return eqx.tree_at(lambda s: (s.collecting, s.replay.items), replicated, sharded)


def _with_device_axis(state: LearnerState) -> LearnerState:
    return _map_replays(lambda r: _mapped_items(r, lambda leaf: leaf[:, None]), state)


def _without_device_axis(state: LearnerState) -> LearnerState:
    return _map_replays(lambda r: _mapped_items(r, lambda leaf: leaf[:, 0]), state)


def _mapped_items(replay: Replay[Any], function: Any) -> Replay[Any]:
    items = jax.tree.map(function, replay.items)
    return _replaced(replay, items, replay.position, replay.size)


def _replaced(replay: Replay[Any], items: Any, position: Any, size: Any) -> Replay[Any]:
    new: Replay[Any] = eqx.tree_at(
        lambda r: (r.items, r.position, r.size), replay, (items, position, size)
    )
    return new


def _map_replays(function: Any, tree: Tree) -> Tree:
    def is_replay(node: Any) -> bool:
        return isinstance(node, Replay)

    mapped: Tree = jax.tree.map(
        lambda node: function(node) if is_replay(node) else node, tree, is_leaf=is_replay
    )
    return mapped
