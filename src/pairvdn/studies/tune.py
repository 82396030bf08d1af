"""Search with Ray Tune: random draws; ASHA stops the worse ones early."""

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import RunError
from pairvdn.studies.cells import Cell, Event, greedy_returns, run_cell
from pairvdn.studies.ray_cluster import PATIENCE, connected, require_ray
from pairvdn.studies.search import Draw, Search
from pairvdn.studies.storage import Storage
from pairvdn.studies.study import Row, Study

OBJECTIVE = "greedy_return"
WORST = -1e30  # of a failed trial; finite, because Tune computes with it

_SETTINGS = {
    # Ctrl-C raises, as in other commands; trials resume from their last checkpoints.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "RAY_AIR_NEW_OUTPUT": "0",  # the new output ignores verbose=0
}


@dataclasses.dataclass(frozen=True)
class Trial:
    """One draw: its run folder, the drawn fields, and its last greedy return."""

    name: str
    fields: Mapping[str, Any]
    value: float
    epochs: int
    reason: str = ""  # of a failure


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """The trials of one row, best first, and the path of the best config."""

    name: str
    trials: list[Trial]
    best: str


def tune(
    study: Study,
    rows: Iterable[Row],
    storage: Storage,
    address: str,
    say: Callable[[str], None],
) -> list[SearchResult]:
    """Search for each row of a study; the objective is the mean over its seeds.

    A trial is a run folder `tune/ROW/trial-K`; the best config is `tune/ROW/best.toml`. The same
    call draws the same configs and skips finished trials.
    """
    os.environ.update(_SETTINGS)
    require_tune()
    storage.require_shared()
    if study.tune is None:
        raise ConfigError(f"{study.name} has no table [tune]; see docs/studies.md.")
    with connected(address):
        return [_search(row, study, study.tune, storage, say) for row in rows]


def require_tune() -> None:
    """Raise `ConfigError` unless Ray Tune is installed."""
    require_ray()
    try:
        import ray.tune  # noqa: F401
    except ImportError as error:
        raise ConfigError("`study tune` needs Ray Tune: pip install 'pairvdn[tune]'.") from error


def _search(
    row: Row, study: Study, search: Search, storage: Storage, say: Callable[[str], None]
) -> SearchResult:
    from ray import tune as library
    from ray.tune.schedulers import ASHAScheduler
    from ray.tune.search.basic_variant import BasicVariantGenerator

    config, folder = row.config(), f"tune/{row.name}"
    say(f"searching: {row.name}, {search.samples} trials")
    needed = {"cpu": study.resources.cpus, "gpu": study.resources.gpus}
    trainable = library.with_parameters(
        _train_trial, folder=folder, config=config, num_seeds=len(row.seeds), storage=storage
    )
    with tempfile.TemporaryDirectory(prefix="pairvdn-tune-") as bookkeeping:
        results: Any = library.Tuner(
            library.with_resources(trainable, needed),
            param_space={field: _domain(one) for field, one in search.space.items()},
            tune_config=library.TuneConfig(
                metric=OBJECTIVE,
                mode="max",
                num_samples=search.samples,
                search_alg=BasicVariantGenerator(random_state=search.seed),
                scheduler=ASHAScheduler(
                    time_attr="epoch",
                    max_t=config.epochs,
                    grace_period=min(search.grace, config.epochs),
                    reduction_factor=search.reduction,
                ),
                trial_name_creator=_trial_name,
                trial_dirname_creator=_trial_name,
            ),
            run_config=library.RunConfig(
                storage_path=bookkeeping,
                verbose=0,
                # Only the death of a worker is a failure: exceptions are reported as results.
                failure_config=library.FailureConfig(max_failures=study.resources.retries),
            ),
        ).fit()
    trials = [_trial(folder, result) for result in results]
    for trial in trials:
        if trial.reason:
            say(f"warning: {trial.name}: {trial.reason}")
    ranked = sorted((trial for trial in trials if not trial.reason), key=lambda trial: -trial.value)
    if not ranked:
        raise RunError(f"{row.name}: no trial was evaluated; the last failed: {trials[-1].reason}")
    best = f"{folder}/best.toml"
    storage.write_text(best, config.replace(ranked[0].fields).to_toml())
    as_json = [dataclasses.asdict(trial) for trial in ranked]
    storage.write_text(f"{folder}/tune.json", json.dumps(as_json, indent=2) + "\n")
    return SearchResult(row.name, ranked, best)


def _train_trial(
    drawn: Mapping[str, Any], *, folder: str, config: Config, num_seeds: int, storage: Storage
) -> None:
    """The trainable: report the stored evaluations, then train."""
    from ray import tune as library

    trial = library.get_context().get_trial_name()
    seeds = num_seeds if num_seeds > 1 else None

    def report(epoch: int, value: float, **others: Any) -> None:
        library.report({"epoch": epoch, OBJECTIVE: value, **others})

    def on_event(event: Event) -> None:
        if isinstance(event, Report) and "evaluation" in event.lines[0]:
            means = [line["evaluation"]["mean"] for line in event.lines]
            report(event.epoch, sum(means) / len(means))

    try:
        cell = Cell(f"{folder}/{trial}", config.replace(drawn), seeds)
    except ConfigError as error:
        report(0, WORST, reason=one_line(error))
        return
    for epoch, value in greedy_returns(cell, storage).items():
        report(epoch, value)
    status = run_cell(cell, storage, on_event, patience=PATIENCE)
    if status.state != "finished":
        report(config.epochs, WORST, reason=f"{status.state}: {status.reason}")


def _trial_name(trial: Any) -> str:
    """`trial-3`: the same for the same draw in every search."""
    return f"trial-{int(trial.trial_id.rpartition('_')[2])}"


def _trial(folder: str, result: Any) -> Trial:
    metrics = result.metrics or {}
    return Trial(
        name=f"{folder}/{Path(result.path).name}",
        fields=dict(result.config),
        value=metrics.get(OBJECTIVE, WORST),
        epochs=metrics.get("epoch", 0),
        reason=metrics.get("reason", "" if OBJECTIVE in metrics else str(result.error)),
    )


def _domain(draw: Draw) -> Any:
    from ray import tune as library

    domains: dict[str, Callable[..., Any]] = {
        "choice": lambda *values: library.choice(list(values)),
        "uniform": library.uniform,
        "log": library.loguniform,
        "integers": lambda low, high: library.randint(low, high + 1),
    }
    return domains[draw.how](*draw.values)
