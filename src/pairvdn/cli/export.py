"""`pairvdn export`: what a run has learned, without what only training needs."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.flags import Parser, add_trust_flag
from pairvdn.runs.export import export

ABOUT = """Copy what a run has learned into a new, small folder: its config and its parameters,
without replay and optimiser. evaluate, compare, watch and play take it like any run; it cannot be
trained on."""


def main(arguments: Sequence[str]) -> int:
    """Export a run."""
    parser = Parser("export", ABOUT)
    parser.add_argument("run", metavar="RUN", type=Path, help="its folder, for example runs/x")
    parser.add_argument("out", metavar="FOLDER", type=Path, help="a new folder")
    parser.add_argument(
        "--checkpoint", default="last", choices=("last", "best"), help="which one (now last)"
    )
    add_trust_flag(parser)
    given = parser.parse_all(arguments)
    size = export(given.run, given.out, given.checkpoint, trust=given.trust)
    print(f"{given.out}: {size / 1000:.0f} kB")
    return 0
