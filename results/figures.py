"""Draw the experiments that ask for it into docs/results/figures/NAME.svg.

    python results/figures.py [NAME ...]

`experiments/NAME.toml` asks with `[figure]`: `path`, which number of a row is drawn, and `label`,
what it is. A group of rows (what is before their last slash) or a task is a panel.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import experiment
import numpy as np

from pairvdn.viewing.bars import Bar, BarPanel, draw_bars

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "results" / "figures"
FOOTER = "mean and 95 % bootstrap interval over training seeds; dots: seeds; dashes: random policy"


def panels(known: dict[str, Any], path: str, *, otherwise: str) -> list[BarPanel]:
    """A panel for each group of rows; `otherwise` is the title of rows that are in none."""
    groups: dict[str, list[str]] = {}
    for row in known:
        groups.setdefault(experiment.group(row), []).append(row)
    return [
        BarPanel(
            title=group or otherwise,
            bars=[_bar(row.rpartition("/")[2], experiment.at(known[row], path)) for row in rows],
            random=experiment.at(known[rows[0]]["random"], path)["mean"],
        )
        for group, rows in groups.items()
    ]


def _bar(label: str, number: dict[str, Any]) -> Bar:
    return Bar(label, number["mean"], number["low"], number["high"], np.array(number["values"]))


def draw(name: str) -> Path:
    """The figure of one experiment."""
    figure = experiment.read(name)["figure"]
    known = experiment.rows(name)
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw_bars(
            panels(known, figure["path"], otherwise=name),
            Path(folder) / name,
            footer=FOOTER,
            measured=figure["label"],
        )
        (svg,) = (path for path in drawn if path.suffix == ".svg")
        FIGURES.mkdir(parents=True, exist_ok=True)
        target = FIGURES / svg.name
        target.write_bytes(svg.read_bytes())
    return target


def main() -> None:
    """Draw what is asked for, or all there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = [
        name
        for name in experiment.names()
        if "figure" in experiment.read(name) and experiment.made(name)
    ]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    given = parser.parse_args()
    if unknown := set(given.names) - set(known):
        parser.error(f"no figure of {', '.join(unknown)}; there are {', '.join(known)}.")
    for name in given.names or known:
        print(draw(name).relative_to(ROOT))


if __name__ == "__main__":
    main()
