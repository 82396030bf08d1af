"""Flags of the commands that open a run folder."""

import argparse
from pathlib import Path

from pairvdn.cli.flags import Parser
from pairvdn.config.schema import parse
from pairvdn.runs.analysis.evaluate import Settings


def add_run(parser: Parser, *, pretrained: bool = True) -> None:
    """The run to open."""
    shipped = ", or pretrained:NAME" if pretrained else ""
    help_ = f"a run folder, for example runs/x{shipped}"
    parser.add_argument("run", metavar="RUN", type=Path, help=help_)


def add_runs(parser: Parser) -> None:
    """Several runs."""
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="run folders")


def add_checkpoint(parser: Parser) -> None:
    """The checkpoint to load."""
    parser.add_argument(
        "--checkpoint", default="last", choices=("last", "best"), help="which one (now last)"
    )


def add_episode_flags(parser: Parser, *, episodes: int) -> None:
    """How many greedy episodes are played, their length and their seed."""
    parser.add_argument(
        "--episodes", default=str(episodes), metavar="N", help=f"how many (now {episodes})"
    )
    parser.add_argument(
        "--max-steps", metavar="N", help="length of an episode; default: env.max_steps of the run"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="of the episodes (now 0)")


def episode_settings(given: argparse.Namespace) -> Settings:
    """The settings that these flags describe."""
    return Settings(
        episodes=parse("--episodes", int, given.episodes),
        max_steps=None if given.max_steps is None else parse("--max-steps", int, given.max_steps),
        seed=parse("--seed", int, given.seed),
        checkpoint=getattr(given, "checkpoint", "last"),
    )
