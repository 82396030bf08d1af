"""Numbers with intervals as text, and aligned tables."""

from collections.abc import Sequence

from pairvdn.evaluation import Estimate, Summary


def interval(summary: Summary | None, digits: int = 3) -> str:
    """A mean and its interval; a dash for None."""
    if summary is None:
        return "–"
    return estimate(Estimate(summary.mean, summary.low, summary.high), digits)


def estimate(number: Estimate, digits: int = 3) -> str:
    """A number and its interval, if it has one."""
    if number.low is None or number.high is None:
        return f"{number.value:.{digits}f}"
    return f"{number.value:.{digits}f} [{number.low:.{digits}f}, {number.high:.{digits}f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the first aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        aligned = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return "  ".join(aligned).rstrip()

    return "\n".join([line(heads), "  ".join("-" * width for width in widths), *map(line, rows)])
