"""Runs: start one, go on with one, load what one has learned."""

import contextlib
import dataclasses
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import jax

from pairvdn.envs import Task
from pairvdn.runs import checkpoint
from pairvdn.config.config import Built, Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.folder import (
    BEST,
    VALUE_INSIDE,
    RunFolder,
    is_finished,
    read_config,
    require_new,
    run_folders,
    seeds_of,
)
from pairvdn.runs.devices.layout import Layout
from pairvdn.runs.lock import locked
from pairvdn.runs.loggers import Logger
from pairvdn.runs.loop import Report, go_on
from pairvdn.runs.pretrained import run_path
from pairvdn.runs.saving import explained, require_same
from pairvdn.runs.devices.choice import Shards
from pairvdn.runs.devices.process_group import SINGLE
from pairvdn.runs.trainings import require_memory, trainings
from pairvdn.learning import Diverged, Learner
from pairvdn.values import Value


def _ignore(_: Any) -> None:
    """Tell nobody."""


def train(
    config: Config,
    folder: str | Path,
    *,
    seed: int | None = None,
    num_seeds: int | None = None,
    on_epoch: Callable[[Report], None] = _ignore,
    say: Callable[[str], None] = _ignore,
    make_loggers: Callable[[Path], Sequence[Logger]] = lambda _: (),
    shards: Shards | None = None,
) -> None:
    """Train into a new folder; with `num_seeds`, that many seeds side by side in `seed-K`.

    Seeds whose environments are stepped on the host are trained one after the other. With `shards`
    the run is divided among devices; of several processes the first one writes and reports.

    Returns when all epochs are done. Raises `FolderError` if the folder is taken, `Interrupted`
    after a signal, `Diverged` if learning blew up, `RunError` if the state cannot be written.
    """
    folder = Path(folder)
    config = config if seed is None else config.replace({"seed": seed})
    if num_seeds is not None and num_seeds < 1:
        raise ConfigError(f"seeds must be at least 1, not {num_seeds}.")
    built = config.build()
    require_memory(built)
    layout = None if shards is None else shards.layout(built, num_seeds)
    group = SINGLE if layout is None else layout.group
    with explained(folder), contextlib.ExitStack() as held:
        group.all_or_none(lambda: _create(folder, config, num_seeds, held) if group.leads else None)
        if group.leads:
            say(f"training {config.env.name}/{config.method.name} into {folder}")
        _continue(folder, config, built, _Tell(on_epoch, say, make_loggers), layout)


def _create(
    folder: Path, config: Config, num_seeds: int | None, held: contextlib.ExitStack
) -> None:
    """Write what does not change, and hold the lock."""
    require_new(folder)
    folder.mkdir(parents=True, exist_ok=True)
    held.enter_context(locked(folder))
    require_new(folder)
    if num_seeds is None:
        RunFolder(folder).create(config)
    else:
        seeds = list(range(config.seed, config.seed + num_seeds))
        checkpoint.write_text(folder / "seeds.json", json.dumps(seeds))
        checkpoint.write_text(folder / "config.toml", config.to_toml())


def resume(
    folder: str | Path,
    *,
    on_epoch: Callable[[Report], None] = _ignore,
    say: Callable[[str], None] = _ignore,
    make_loggers: Callable[[Path], Sequence[Logger]] = lambda _: (),
    shards: Shards | None = None,
    trust: bool = False,
) -> bool:
    """Go on with a run, or with all runs of a folder; False if there was nothing left to do.

    The end has the same bits as that of a run which was never stopped, unless the environments
    are stepped on the host, whose episodes start anew, or it goes on with other devices than
    before; a warning says so. `shards` are as in `train`, `trust` as in `read_config`.
    """
    folder = Path(folder)
    config = read_config(folder, trust=trust)
    if all(is_finished(one, config) for one in run_folders(folder)):
        return False
    built = config.build()
    seeds = seeds_of(folder)
    layout = None
    if shards is not None:
        layout = shards.layout(built, None if seeds is None else len(seeds))
    group = SINGLE if layout is None else layout.group
    with explained(folder), contextlib.ExitStack() as held:
        lock = locked(folder) if group.leads else contextlib.nullcontext()
        group.all_or_none(lambda: held.enter_context(lock))
        _continue(folder, config, built, _Tell(on_epoch, say, make_loggers), layout)
    return True


@dataclasses.dataclass(frozen=True)
class _Tell:
    """Whom to tell how a run goes on."""

    on_epoch: Callable[[Report], None] = _ignore
    say: Callable[[str], None] = _ignore
    make_loggers: Callable[[Path], Sequence[Logger]] = lambda _: ()


def _continue(
    folder: Path,
    config: Config,
    built: Built,
    tell: _Tell,
    layout: Layout | None,
) -> None:
    """Train the run or runs of a folder that is locked, from where they are."""
    group = SINGLE if layout is None else layout.group
    tell = tell if group.leads else _Tell()
    # Whoever does not see what the first process has written says so before anybody waits.
    seeds = group.all_or_none(lambda: seeds_of(folder))
    folders = [RunFolder(path) for path in group.all_or_none(lambda: run_folders(folder))]
    with contextlib.ExitStack() as held:
        if seeds is not None and group.leads:
            for one, seed in zip(folders, seeds, strict=True):
                one.path.mkdir(exist_ok=True)
                held.enter_context(locked(one.path))
                if not (one.path / "config.toml").exists():
                    one.create(config.replace({"seed": seed}))
        loggers = [held.enter_context(logger) for logger in tell.make_loggers(folder)]
        for run in trainings(config, built, folder, folders, seeds, tell.say, layout):
            try:
                go_on(run, on_epoch=tell.on_epoch, say=tell.say, loggers=loggers)
            except Diverged as error:
                if len(folders) == 1:
                    raise
                tell.say(f"warning: {run.folders[0].path.name}: {error}")
