"""Numbers with intervals as text, and aligned tables."""

from collections.abc import Sequence

from pairvdn.evaluation import Estimate, Summary


def interval(one: Summary | None, digits: int = 3) -> str:
    """A mean and its interval; a dash for nothing."""
    return "–" if one is None else estimate(Estimate(one.mean, one.low, one.high), digits)


def estimate(one: Estimate, digits: int = 3) -> str:
    """A number and its interval, if it has one."""
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    return f"{one.value:.{digits}f} [{one.low:.{digits}f}, {one.high:.{digits}f}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the first aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join([first, *others]).rstrip()

    return "\n".join([line(heads), "  ".join("-" * width for width in widths), *map(line, rows)])
