"""`pairvdn plot`: learning curves."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.flags import Parser

ABOUT = """Draw learning curves of runs as PNG and SVG: greedy evaluations during training, one
panel per task, one curve per method, the random policy dashed. The band is the 95 % bootstrap
interval over training seeds, or the standard deviation over episodes if there is one seed. A second
figure, -bars, shows the final returns: the mean of each method, its seeds as dots, the interval."""


def main(arguments: Sequence[str]) -> int:
    """Plot runs."""
    parser = Parser("plot", ABOUT)
    parser.add_runs()
    parser.add_argument(
        "--out", type=Path, default=Path("curves"), help="files without suffix; default: curves"
    )
    parser.add_trust()
    given = parser.parse_all(arguments)
    from pairvdn.viewing.curves import plot_runs  # needs matplotlib

    for path in plot_runs(given.runs, given.out, trust=given.trust):
        print(path)
    return 0
