"""Searching fields with Ray Tune: random draws, of which ASHA ends the worse ones early."""

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import RunError
from pairvdn.studies.cells import Cell, News
from pairvdn.studies.file import Grid
from pairvdn.studies.ray_cluster import PATIENCE, connected, require_ray
from pairvdn.studies.search import Draw, Search
from pairvdn.studies.storage import Storage
from pairvdn.studies.work import carry_out, greedy_returns

OBJECTIVE = "greedy_return"
WORST = -1e30  # of a trial that failed; Tune computes with it, so that it is finite

_SETTINGS = {
    # Ctrl-C raises here, as everywhere; the trials' last checkpoints are where they go on.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "RAY_AIR_NEW_OUTPUT": "0",  # it prints even when it is asked to be quiet
}


@dataclasses.dataclass(frozen=True)
class Trial:
    """One draw: the name of its run folder, what was drawn, and its last greedy return."""

    name: str
    fields: Mapping[str, Any]
    value: float
    epochs: int
    reason: str = ""  # why it does not count


@dataclasses.dataclass(frozen=True)
class Found:
    """The trials of one environment and method, best first, and where the best config is."""

    name: str
    trials: list[Trial]
    best: str


def tune(grid: Grid, storage: Storage, address: str, say: Callable[[str], None]) -> list[Found]:
    """Search for each environment and method of a grid; all seeds of a trial count, as a mean.

    Every trial is a run folder `NAME/tune/trial-K`, and the best config goes to `NAME/best.toml`.
    The same call draws the same configs: trials that are finished are not trained again.
    """
    os.environ.update(_SETTINGS)
    require_tune()
    storage.require_shared()
    assert grid.tune is not None  # the caller has looked
    with connected(address):
        return [
            _search(name, config, grid, grid.tune, storage, say) for name, config in grid.groups()
        ]


def require_tune() -> None:
    """Raise `ConfigError` unless Ray Tune is installed."""
    require_ray()
    try:
        import ray.tune  # noqa: F401
    except ImportError as error:
        raise ConfigError("--tune needs Ray Tune: pip install 'pairvdn[tune]'.") from error


def _search(
    name: str,
    config: Config,
    grid: Grid,
    search: Search,
    storage: Storage,
    say: Callable[[str], None],
) -> Found:
    from ray import tune as library
    from ray.tune.schedulers import ASHAScheduler
    from ray.tune.search.basic_variant import BasicVariantGenerator

    first = config.replace({"seed": grid.seeds[0]})
    say(f"searching: {name}, {search.samples} trials")
    needed = {"cpu": grid.resources.cpus, "gpu": grid.resources.gpus}
    trainable = library.with_parameters(
        _train_trial, name=name, config=first, num_seeds=len(grid.seeds), storage=storage
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
                failure_config=library.FailureConfig(max_failures=grid.resources.retries),
            ),
        ).fit()
    trials = [_trial(name, result) for result in results]
    for trial in trials:
        if trial.reason:
            say(f"warning: {trial.name}: {trial.reason}")
    ranked = sorted((one for one in trials if not one.reason), key=lambda trial: -trial.value)
    if not ranked:
        raise RunError(f"{name}: no trial came to an evaluation; the last: {trials[-1].reason}")
    best = f"{name}/best.toml"
    storage.write_text(best, first.replace(ranked[0].fields).to_toml())
    as_json = [dataclasses.asdict(trial) for trial in ranked]
    storage.write_text(f"{name}/tune.json", json.dumps(as_json, indent=2) + "\n")
    return Found(name, ranked, best)


def _train_trial(
    drawn: Mapping[str, Any], *, name: str, config: Config, num_seeds: int, storage: Storage
) -> None:
    """What the worker of a trial does: report what is there already, then train on."""
    from ray import tune as library

    trial = library.get_context().get_trial_name()
    seeds = num_seeds if num_seeds > 1 else None

    def report(epoch: int, value: float, **others: Any) -> None:
        library.report({"epoch": epoch, OBJECTIVE: value, **others})

    def tell(news: News) -> None:
        if isinstance(news, Report) and "evaluation" in news.lines[0]:
            means = [line["evaluation"]["mean"] for line in news.lines]
            report(news.epoch, sum(means) / len(means))

    try:
        cell = Cell(f"{name}/tune/{trial}", config.replace(drawn), seeds)
    except ConfigError as error:
        report(0, WORST, reason=one_line(error))
        return
    for epoch, value in greedy_returns(cell, storage).items():
        report(epoch, value)
    standing = carry_out(cell, storage, tell, patience=PATIENCE)
    if standing.state != "finished":
        report(config.epochs, WORST, reason=f"{standing.state}: {standing.reason}")


def _trial_name(trial: Any) -> str:
    """The same for the same draw, whenever the search is started: `trial-3`."""
    return f"trial-{int(trial.trial_id.rpartition('_')[2])}"


def _trial(name: str, result: Any) -> Trial:
    metrics = result.metrics or {}
    return Trial(
        name=f"{name}/tune/{Path(result.path).name}",
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
