"""`pairvdn compare`: several runs in one table."""

import csv
import io
from collections.abc import Sequence

from pairvdn.cli.flags import Parser, episode_settings
from pairvdn.cli.tables import estimate, table
from pairvdn.runs.analysis.compare import Comparison, Row, compare

ABOUT = """Evaluate several runs and compare them: mean and interquartile mean of the last
checkpoints, mean of the best ones, and the probability that a seed of a method beats a seed of the
first method (0.5: neither is better). Runs of one method, task and settings are pooled; settings
that differ name the rows. The folder of a study stands for all of its runs. Brackets are 95 %
bootstrap intervals over training seeds, or over episodes if there is one seed."""


def main(arguments: Sequence[str]) -> int:
    """Compare runs."""
    parser = Parser("compare", ABOUT)
    parser.add_runs()
    parser.add_episodes(20)
    parser.add_argument("--csv", action="store_true", help="print all numbers as CSV")
    parser.add_trust()
    given = parser.parse_all(arguments)
    comparison = compare(given.runs, episode_settings(given), trust=given.trust)
    print(_csv(comparison) if given.csv else _text(comparison), end="" if given.csv else "\n")
    return 0


def _csv(comparison: Comparison) -> str:
    """A line per method and task, in full precision; intervals are in columns of their own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    numbers = ["mean", "interquartile_mean", "best_checkpoint", "better"]
    heads = [f"{name}{end}" for name in numbers for end in ("", "_low", "_high")]
    facts = ["task", "method", "seeds", "diverged", "interval_over", "random"]
    writer.writerow([*facts, *heads])
    for row in comparison.rows:
        ends = [end for name in numbers for end in getattr(row, name) or ("", "", "")]
        writer.writerow([*(getattr(row, fact) for fact in facts), *ends])
    return text.getvalue()


def _text(comparison: Comparison) -> str:
    parts = []
    for task in dict.fromkeys(row.task for row in comparison.rows):
        rows = [row for row in comparison.rows if row.task == task]
        heads = ["", "last: mean", "last: IQM", "best: mean"]
        heads += [f"P(> {rows[0].method})", "over", "diverged"]
        cells = [_cells(row) for row in rows]
        cells.append(["random", f"{rows[0].random:.3f}", *[""] * (len(heads) - 2)])
        parts.append(f"{task}\n\n{table(heads, cells)}")
    if comparison.over_tasks:
        lines = [f"{name}: {estimate(better)}" for name, better in comparison.over_tasks.items()]
        first = comparison.rows[0].method
        parts.append("\n".join([f"P(> {first}) over shared tasks", *lines]))
    return "\n\n".join(parts)


def _cells(row: Row) -> list[str]:
    return [
        row.method,
        estimate(row.mean),
        estimate(row.interquartile_mean),
        estimate(row.best_checkpoint) if row.best_checkpoint else "-",
        estimate(row.better, 2),
        row.interval_over,
        f"{row.diverged} of {row.seeds}",
    ]
