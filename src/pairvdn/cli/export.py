"""`pairvdn export`: a small copy of a run, to share."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.flags import Parser
from pairvdn.runs.export import export

ABOUT = """Copy the config and the learned parameters of a run into a new, small folder, without
replay and optimiser. evaluate, compare, watch and play accept the copy like any run. It cannot be
trained further."""


def main(arguments: Sequence[str]) -> int:
    """Export a run."""
    parser = Parser("export", ABOUT)
    parser.add_run()
    parser.add_argument("out", metavar="FOLDER", type=Path, help="a new folder")
    parser.add_checkpoint()
    parser.add_trust()
    given = parser.parse_all(arguments)
    size = export(given.run, given.out, given.checkpoint, trust=given.trust)
    print(f"{given.out}: {size / 1000:.0f} kB")
    return 0
