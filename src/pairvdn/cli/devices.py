"""Flags about devices and processes that train together; see docs/scale.md."""

import argparse
from collections.abc import Mapping
from typing import Any

from pairvdn.cli.flags import Parser, positive
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import parse
from pairvdn.runs.devices.processes import Coordinator, connect
from pairvdn.runs.devices.shards import LAYOUTS, Shards


def add_device_flags(parser: Parser) -> None:
    """Flags about where to train."""
    group = parser.add_argument_group("devices")
    group.add_argument(
        "--devices", metavar="all|N", help="shard the run over all devices, or the first N"
    )
    group.add_argument(
        "--shard", choices=sorted(LAYOUTS), default="envs", help="the sharded axis (now envs)"
    )
    group.add_argument(
        "--distributed",
        action="store_true",
        help="train together with the other tasks of this SLURM step, MPI job or Kubernetes job",
    )
    group.add_argument(
        "--coordinator", metavar="HOST:PORT", help="address of process 0, to start by hand"
    )
    group.add_argument("--process-id", metavar="I", help="index of this process, from 0")
    group.add_argument("--num-processes", metavar="P", help="number of processes")
    group.add_argument(
        "--wait", metavar="SECONDS", default="300", help="time for all to connect (now 300)"
    )


def shards_of(given: argparse.Namespace, settings: Mapping[str, Any]) -> Shards | None:
    """The devices that the flags describe, after connecting to the other processes, if any.

    `settings` is everything that must be the same in every process, besides these flags.
    """
    coordinator = _coordinator(given)
    together = given.distributed or coordinator is not None
    if given.devices is None and not together:
        if given.shard != "envs":
            raise ConfigError(f"--shard {given.shard} needs devices: add --devices all.")
        return None
    count = None if given.devices in (None, "all") else positive("--devices", given.devices)
    shards = Shards(count, given.shard)
    if together:
        flags = {"devices": given.devices or "all", "shard": given.shard}
        connect(coordinator, {**flags, **settings}, wait=positive("--wait", given.wait))
    return shards


def _coordinator(given: argparse.Namespace) -> Coordinator | None:
    by_hand = {
        "--coordinator": given.coordinator,
        "--process-id": given.process_id,
        "--num-processes": given.num_processes,
    }
    missing = [flag for flag, text in by_hand.items() if text is None]
    if len(missing) == len(by_hand):
        return None
    if given.distributed:
        raise ConfigError("--distributed finds the processes by itself: leave --coordinator out.")
    if missing:
        raise ConfigError(f"{', '.join(missing)} must be given, too: all three or none.")
    return Coordinator(
        given.coordinator,
        parse("--process-id", int, given.process_id),
        positive("--num-processes", given.num_processes),
    )


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested mapping with dotted keys."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        inner = isinstance(value, Mapping)
        found |= flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return found
