"""Draw the experiments that ask for it into docs/results/figures/NAME.svg and NAME-curves.svg.

    python results/figures.py [NAME ...]

`experiments/NAME.toml` asks for bars with `[figure]`: `path`, which number of a row is drawn, and
`label`, what it is; and for learning curves with `[curves]`. A group of rows (what is before their
last slash) or a task is a panel; `groups` names those that are drawn, if not all.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import experiment
import numpy as np

from pairvdn.runs.analysis.curves import OVER_SEEDS
from pairvdn.viewing.bars import Bar, BarPanel, draw_bars
from pairvdn.viewing.figures import Curve, Panel, draw_curves

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "results" / "figures"
FOOTER = "mean and 95 % bootstrap interval over training seeds; dots: seeds; dashes: random policy"


def by_group(known: dict[str, Any], asked: dict[str, Any]) -> dict[str, list[str]]:
    """The rows of each group that is asked for."""
    groups: dict[str, list[str]] = {}
    for row in known:
        groups.setdefault(experiment.group(row), []).append(row)
    return {group: groups[group] for group in asked.get("groups", groups) if group in groups}


def draw_figure(name: str, figure: dict[str, Any], stem: Path) -> list[Path]:
    """The number that is asked for, as bars."""
    known, path = experiment.rows(name), figure["path"]
    panels = [
        BarPanel(
            title=group or name,
            bars=[_bar(_method(row), experiment.at(known[row], path)) for row in rows],
            random=experiment.at(known[rows[0]]["random"], path)["mean"],
        )
        for group, rows in by_group(known, figure).items()
    ]
    return draw_bars(panels, stem, footer=FOOTER, measured=figure["label"])


def draw_learning(name: str, curves: dict[str, Any], stem: Path) -> list[Path]:
    """Greedy returns while training."""
    known = {
        row: found
        for row, found in experiment.rows(name).items()
        if "curve" in found and _method(row) in curves.get("methods", [_method(row)])
    }
    panels = [
        Panel(
            group or name,
            [_curve(_method(row), known[row]["curve"]) for row in rows],
            random=experiment.at(known[rows[0]]["random"], curves["random"])["mean"],
        )
        for group, rows in by_group(known, curves).items()
    ]
    return draw_curves(panels, stem, shaded=OVER_SEEDS)


def _method(row: str) -> str:
    return row.rpartition("/")[2]


def _bar(label: str, number: dict[str, Any]) -> Bar:
    return Bar(label, number["mean"], number["low"], number["high"], np.array(number["values"]))


def _curve(label: str, curve: dict[str, list[float]]) -> Curve:
    return Curve(label, **{name: np.array(line) for name, line in curve.items()})


# What an experiment may ask for: the end of the file's name, and who draws it.
KINDS: dict[str, tuple[str, Callable[[str, dict[str, Any], Path], list[Path]]]] = {
    "figure": ("", draw_figure),
    "curves": ("-curves", draw_learning),
}


def asked(name: str) -> list[str]:
    """The figures that an experiment asks for, as names of files without suffix."""
    what = experiment.read(name)
    return [name + ending for kind, (ending, _) in KINDS.items() if kind in what]


def draw(name: str) -> list[Path]:
    """The figures of one experiment."""
    what = experiment.read(name)
    FIGURES.mkdir(parents=True, exist_ok=True)
    targets = []
    for kind, (ending, drawer) in KINDS.items():
        if kind in what:
            with tempfile.TemporaryDirectory() as folder:
                drawn = drawer(name, what[kind], Path(folder) / f"{name}{ending}")
                (svg,) = (path for path in drawn if path.suffix == ".svg")
                targets.append(FIGURES / svg.name)
                targets[-1].write_bytes(svg.read_bytes())
    return targets


def main() -> None:
    """Draw what is asked for, or all there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = [name for name in experiment.names() if asked(name) and experiment.made(name)]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    given = parser.parse_args()
    if unknown := set(given.names) - set(known):
        parser.error(f"no figure of {', '.join(unknown)}; there are {', '.join(known)}.")
    for name in given.names or known:
        for path in draw(name):
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
