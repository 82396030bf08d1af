"""Flags about devices and about processes that train together."""

import argparse
from collections.abc import Mapping
from typing import Any

from pairvdn.cli.flags import Parser, positive
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import parse
from pairvdn.runs.devices.shards import LAYOUTS, Shards
from pairvdn.runs.devices.distributed import Meeting, meet, slurm_meeting


def add_device_flags(parser: Parser) -> None:
    """Flags about where to train; docs/scale.md tells how they are used."""
    group = parser.add_argument_group("devices")
    group.add_argument(
        "--devices", metavar="all|N", help="divide the run among all devices, or the first N"
    )
    group.add_argument(
        "--shard", choices=sorted(LAYOUTS), default="envs", help="what is divided (now envs)"
    )
    group.add_argument(
        "--coordinator", metavar="HOST:PORT", help="where processes meet: a port of the first one"
    )
    group.add_argument("--process-id", metavar="I", help="which of them this is, from 0")
    group.add_argument("--num-processes", metavar="P", help="how many there are")
    group.add_argument(
        "--wait", metavar="SECONDS", default="300", help="how long for the others (now 300)"
    )


def shards_of(given: argparse.Namespace, settings: Mapping[str, Any]) -> Shards | None:
    """What the flags say, after meeting the other processes if there are any.

    `settings` is all that must be the same in every process, besides these flags.
    """
    meeting = _meeting(given)
    if given.devices is None and meeting is None:
        if given.shard != "envs":
            raise ConfigError(f"--shard {given.shard} divides among devices: --devices all, say.")
        return None
    all_ = given.devices in (None, "all")
    shards = Shards(None if all_ else positive("--devices", given.devices), given.shard)
    if meeting is not None:
        told = {"devices": given.devices or "all", "shard": given.shard, **settings}
        meet(meeting, told, seconds=positive("--wait", given.wait))
    return shards


def _meeting(given: argparse.Namespace) -> Meeting | None:
    named = {
        "--coordinator": given.coordinator,
        "--process-id": given.process_id,
        "--num-processes": given.num_processes,
    }
    missing = [flag for flag, text in named.items() if text is None]
    if len(missing) == len(named):
        # Tasks of SLURM may as well be runs of their own, so it takes a word to join them.
        return slurm_meeting() if given.devices == "all" else None
    if missing:
        raise ConfigError(f"{', '.join(missing)} must be given, too: all three or none.")
    return Meeting(
        given.coordinator,
        parse("--process-id", int, given.process_id),
        positive("--num-processes", given.num_processes),
    )


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys as dotted ones."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        inner = isinstance(value, Mapping)
        found |= flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return found
