"""Tuning with early stopping: the trials of `[tune]` on Ray Tune, where ASHA stops the worse ones.

Trials have the same names, folders and fields as without early stopping, and the ranking is stored
in the same file, so that `study run` goes on from it.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pairvdn.config.errors import ConfigError
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import RunError
from pairvdn.studies.cells import Cell, Event, greedy_returns, run_cell
from pairvdn.studies.ray_cluster import PATIENCE, connected, require_ray
from pairvdn.studies.search import EarlyStopping
from pairvdn.studies.storage import Storage
from pairvdn.studies.study import Row, Study
from pairvdn.studies.tuning import Tuned, decide, read_tuned, shrink, trial_cells

OBJECTIVE = "greedy_return"
WORST = -1e30  # of a failed trial; finite, because Tune computes with it

_SETTINGS = {
    # Ctrl-C raises, as in other commands; trials resume from their last checkpoints.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "RAY_AIR_NEW_OUTPUT": "0",  # the new output ignores verbose=0
}


def tune_with_ray(
    study: Study,
    rows: Iterable[Row],
    storage: Storage,
    address: str,
    say: Callable[[str], None],
) -> dict[str, Tuned]:
    """Tune each row of a study; the same call skips tuned rows and finished trials."""
    assert study.tune is not None
    assert study.tune.early_stopping is not None
    os.environ.update(_SETTINGS)
    require_tune()
    storage.require_shared()
    found: dict[str, Tuned] = {}
    with connected(address):
        for row in rows:
            stored = read_tuned(row, study.tune, storage)
            if stored is None:
                cells = trial_cells(row, study.tune)
                say(f"tuning: {row.name}, {len(cells)} trials")
                _run(study, study.tune.early_stopping, cells, storage, say)
                stored = decide(row, study.tune, cells, storage)
                for cell in cells:
                    shrink(cell, storage)
            found[row.name] = stored
    return found


def require_tune() -> None:
    """Raise `ConfigError` unless Ray Tune is installed."""
    require_ray()
    try:
        import ray.tune  # noqa: F401
    except ImportError as error:
        raise ConfigError("Early stopping needs Ray Tune: pip install 'pairvdn[tune]'.") from error


def _run(
    study: Study,
    stopping: EarlyStopping,
    cells: Sequence[Cell],
    storage: Storage,
    say: Callable[[str], None],
) -> None:
    """Train all trials; `RunError` if one failed, as without early stopping."""
    from ray import tune as library
    from ray.tune.schedulers import ASHAScheduler

    epochs = cells[0].config.epochs
    needed = {"cpu": study.resources.cpus, "gpu": study.resources.gpus}
    trainable = library.with_parameters(_train_trial, cells=list(cells), storage=storage)
    with tempfile.TemporaryDirectory(prefix="pairvdn-tune-") as bookkeeping:
        results: Any = library.Tuner(
            library.with_resources(trainable, needed),
            param_space={"trial": library.grid_search(list(range(len(cells))))},
            tune_config=library.TuneConfig(
                metric=OBJECTIVE,
                mode="max",
                scheduler=ASHAScheduler(
                    time_attr="epoch",
                    max_t=epochs,
                    grace_period=min(stopping.grace, epochs),
                    reduction_factor=stopping.reduction,
                ),
            ),
            run_config=library.RunConfig(
                storage_path=bookkeeping,
                verbose=0,
                # Only the death of a worker is a failure: exceptions are reported as results.
                failure_config=library.FailureConfig(max_failures=study.resources.retries),
            ),
        ).fit()
    failures = {
        cells[result.config["trial"]].name: reason
        for result in results
        if (reason := _failure(result))
    }
    for name, reason in failures.items():
        say(f"warning: {name}: {reason}")
    if failures:
        raise RunError(f"{next(iter(failures))} failed, so its row is not tuned; see above.")


def _train_trial(drawn: dict[str, int], *, cells: Sequence[Cell], storage: Storage) -> None:
    """The trainable: report the stored evaluations, then train."""
    from ray import tune as library

    cell = cells[drawn["trial"]]

    def report(epoch: int, values: Sequence[float]) -> None:
        library.report({"epoch": epoch, OBJECTIVE: sum(values) / len(values)})

    def on_event(event: Event) -> None:
        if isinstance(event, Report) and "evaluation" in event.lines[0]:
            report(event.epoch, [line["evaluation"]["mean"] for line in event.lines])

    for epoch, values in greedy_returns(cell, storage).items():
        report(epoch, values)
    status = run_cell(cell, storage, on_event, patience=PATIENCE)
    if status.state not in ("finished", "diverged"):
        reason = f"{status.state}: {status.reason}"
        library.report({"epoch": cell.config.epochs, OBJECTIVE: WORST, "reason": reason})


def _failure(result: Any) -> str:
    """Why a trial failed; empty if it did not."""
    metrics = result.metrics or {}
    return str(metrics.get("reason", "" if OBJECTIVE in metrics else result.error or ""))
