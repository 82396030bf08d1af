"""`pairvdn grid`: many runs from one file."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pairvdn.cli.cells_table import cells_progress
from pairvdn.cli.flags import Parser, positive
from pairvdn.cli.progress import Stream
from pairvdn.cli.tables import table
from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import Interrupted
from pairvdn.studies import (
    Cell,
    Executor,
    Grid,
    Here,
    Processes,
    RayCluster,
    Resources,
    Standing,
    last_return,
    read_grid,
    run_cells,
)
from pairvdn.studies.storage import Storage, storage

ABOUT = """Train every cell of a grid: methods x environments x seeds x any field; docs/grid.md
says what is in the file. Each cell is an ordinary run folder. The same command goes on with what
was stopped, skips what is finished, and tries again what failed. Results do not depend on where
cells are trained."""

_GOOD = ("finished", "finished before")


def main(arguments: Sequence[str]) -> int:
    """Train the cells of a grid."""
    parser = Parser("grid", ABOUT)
    parser.add_argument("grid", metavar="GRID.toml", type=Path, help="what to train")
    parser.add_argument("--out", help="a folder, or a URL that fsspec opens; default runs/GRID")
    add_executor_flags(parser)
    parser.add_argument("--dry-run", action="store_true", help="list the cells and train nothing")
    parser.add_argument("--tune", action="store_true", help="search as [tune] says, with Ray Tune")
    parser.add_argument("--quiet", action="store_true", help="print warnings and failures only")
    given = parser.parse_all(arguments)
    grid = read_grid(given.grid)
    cells = grid.cells()
    place = storage(given.out or f"runs/{given.grid.stem}")
    if given.dry_run:
        print("\n".join([*(cell.name for cell in cells), f"{len(cells)} cells, into {place}"]))
        return 0
    if given.tune:
        return _tune(grid, place, given)
    executor = executor_of(given, grid.resources) or Here()
    standings = carry_out(cells, place, executor, quiet=given.quiet)
    if not given.quiet:
        print(_results(cells, standings, place))
    return 0 if all(one.state in _GOOD for one in standings.values()) else 1


def add_executor_flags(parser: Parser) -> None:
    """Flags about who trains."""
    parser.add_argument("--workers", metavar="N", help="train in so many processes")
    parser.add_argument(
        "--ray",
        metavar="WHERE",
        help="train on a Ray cluster: auto (one that runs), local (a new one here), or an address",
    )


def executor_of(given: argparse.Namespace, resources: Resources | None = None) -> Executor | None:
    """Who trains, as the flags say; None if they say nothing."""
    workers = None if given.workers is None else positive("--workers", given.workers)
    if given.ray is not None:
        return RayCluster(given.ray, resources or Resources(), workers)
    return None if workers is None else Processes(workers)


def carry_out(
    cells: Sequence[Cell],
    place: Storage,
    executor: Executor,
    *,
    quiet: bool,
    stream: Stream | None = None,
) -> Mapping[str, Standing]:
    """Train cells, show how they get on, and name those that failed."""
    try:
        with cells_progress(cells, quiet=quiet, stream=stream) as tell:
            return run_cells(cells, place, executor, tell)
    except Interrupted as stop:
        message = (
            f"stopped; what was trained is in {place}, and the same command goes on from there"
        )
        raise Interrupted(stop.signum, message) from stop


def _results(cells: Sequence[Cell], standings: Mapping[str, Standing], place: Storage) -> str:
    def row(cell: Cell) -> list[str]:
        greedy = last_return(cell, place)
        shown = "" if greedy is None else f"{greedy:.4g}"
        return [cell.name, standings[cell.name].state, shown]

    return table(["", "state", "greedy return"], [row(cell) for cell in cells]) + f"\n\n{place}"


def _tune(grid: Grid, place: Storage, given: argparse.Namespace) -> int:
    from pairvdn.studies.tune import Found, tune

    if grid.tune is None:
        raise ConfigError(f"{given.grid} has no table [tune]; docs/grid.md says what is in it.")
    if given.workers is not None:
        raise ConfigError("--workers does not go with --tune; see --ray.")
    say: Callable[[str], None] = (lambda _: None) if given.quiet else print
    found: list[Found] = tune(grid, place, given.ray or "local", say)
    for one in found:
        heads = ["", "greedy return", "epochs", *grid.tune.space]
        rows = [
            [trial.name, f"{trial.value:.4g}", str(trial.epochs), *map(str, trial.fields.values())]
            for trial in one.trials
        ]
        print(f"{one.name}: the best config is {place}/{one.best}\n\n{table(heads, rows)}\n")
    return 0
