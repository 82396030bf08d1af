"""`pairvdn plot`: learning curves."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.flags import Parser, Whole
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import parse

ABOUT = """Draw learning curves of runs: greedy evaluations during training, one panel per task, one
curve per method, the random policy dashed, or as an arrow if it is off the scale. The band is the
95 % bootstrap interval over training seeds, or the standard deviation over episodes if there is one
seed. A second figure, -bars, shows the final returns: the mean of each method, its seeds as dots,
the interval."""


def main(arguments: Sequence[str]) -> int:
    """Plot runs."""
    from pairvdn.runs.analysis.curves import METRICS, RETURN, STEPS, X_AXES

    parser = Parser("plot", ABOUT)
    parser.add_runs()
    parser.add_argument(
        "--out", type=Path, default=Path("curves"), help="files without suffix; default: curves"
    )
    parser.add_argument("--x", choices=X_AXES, default=STEPS, help=f"x axis; default: {STEPS}")
    parser.add_argument(
        "--metric", choices=METRICS, default=RETURN, help=f"y axis; default: {RETURN} (greedy)"
    )
    parser.add_argument(
        "--smooth", action=Whole, default=1, help="average over the last N points; default: 1"
    )
    parser.add_argument("--ylim", metavar="LOW,HIGH", help="y axis; default: that of the methods")
    parser.add_argument("--title", default="", metavar="TEXT", help="title of the figure")
    parser.add_argument(
        "--formats", default="png,svg", metavar="NAME,...", help="file formats; default: png,svg"
    )
    parser.add_trust()
    given = parser.parse_all(arguments)
    from pairvdn.viewing.curves import PlotSettings, plot_runs  # needs matplotlib
    from pairvdn.viewing.style import known_formats

    formats = tuple(given.formats.split(","))
    unknown = [name for name in formats if name not in known_formats()]
    if unknown:
        raise ConfigError(
            f"--formats has no {unknown[0]!r}; known are {', '.join(known_formats())}."
        )
    settings = PlotSettings(
        x=given.x,
        metric=given.metric,
        smooth=given.smooth,
        title=given.title,
        y_range=None if given.ylim is None else _range(given.ylim),
        formats=formats,
    )
    for path in plot_runs(given.runs, given.out, settings, trust=given.trust):
        print(path)
    return 0


def _range(text: str) -> tuple[float, float]:
    ends = parse("--ylim", tuple[float, ...], text)
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ConfigError(f"--ylim must be two rising numbers, LOW,HIGH, not {text!r}.")
    return ends[0], ends[1]
