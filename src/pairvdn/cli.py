"""The command `pairvdn`: parse, call, print."""

import argparse
from collections.abc import Sequence

import pairvdn
from pairvdn import envs


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="pairvdn", description=pairvdn.__doc__)
    parser.add_argument("--version", action="version", version=f"pairvdn {pairvdn.__version__}")
    parser.add_argument("command", choices=["list"], help="list: what there is")
    parser.parse_args(arguments)
    print("environments:", ", ".join(envs.names()))
