"""Flags of the devices and processes that train a run; see docs/scale.md."""

import argparse
from collections.abc import Mapping
from typing import Any

from pairvdn.cli.flags import Parser, Whole, whole_number
from pairvdn.config.errors import ConfigError
from pairvdn.runs.devices.processes import Coordinator, connect
from pairvdn.runs.devices.shards import LAYOUTS, Shards


def add_device_flags(parser: Parser) -> None:
    """Flags that choose devices and processes."""
    group = parser.add_argument_group("devices")
    group.add_argument(
        "--devices", metavar="all|N", help="shard the run over all devices, or the first N"
    )
    group.add_argument(
        "--shard", choices=sorted(LAYOUTS), default="envs", help="sharded axis; default: envs"
    )
    group.add_argument(
        "--distributed",
        action="store_true",
        help="train together with the other tasks of this SLURM step, MPI job or Kubernetes job",
    )
    group.add_argument(
        "--coordinator", metavar="HOST:PORT", help="address of process 0, outside of a cluster job"
    )
    group.add_argument(
        "--process-id", action=Whole, least=None, metavar="I", help="index of this process, from 0"
    )
    group.add_argument("--num-processes", action=Whole, metavar="P", help="number of processes")
    group.add_argument(
        "--wait",
        action=Whole,
        default=300,
        metavar="SECONDS",
        help="time for all processes to connect; default: 300",
    )


def shards_of(given: argparse.Namespace, settings: Mapping[str, Any]) -> Shards | None:
    """The devices that the flags choose, after connecting to the other processes, if any.

    `settings`, like these flags, must be the same in every process.
    """
    coordinator = _coordinator(given)
    together = given.distributed or coordinator is not None
    if given.devices is None and not together:
        if given.shard != "envs":
            raise ConfigError(f"--shard {given.shard} needs devices: add --devices all.")
        return None
    count = None if given.devices in (None, "all") else whole_number("--devices", given.devices)
    shards = Shards(count, given.shard)
    if together:
        flags = {"devices": given.devices or "all", "shard": given.shard}
        connect(coordinator, {**flags, **settings}, wait=given.wait)
    return shards


def _coordinator(given: argparse.Namespace) -> Coordinator | None:
    by_hand = {
        "--coordinator": given.coordinator,
        "--process-id": given.process_id,
        "--num-processes": given.num_processes,
    }
    missing = [flag for flag, value in by_hand.items() if value is None]
    if len(missing) == len(by_hand):
        return None
    if given.distributed:
        raise ConfigError("--distributed detects the processes: leave --coordinator out.")
    if missing:
        raise ConfigError(f"{', '.join(missing)} must be given, too: give all three flags or none.")
    return Coordinator(given.coordinator, given.process_id, given.num_processes)
