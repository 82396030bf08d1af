"""Training into a run folder, and resuming it."""

import contextlib
import dataclasses
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax

from pairvdn.config.config import Built, Config
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Environment, HostEnvironment
from pairvdn.learning import Diverged
from pairvdn.runs import checkpoint
from pairvdn.runs.devices.layout import Layout
from pairvdn.runs.devices.processes import SINGLE
from pairvdn.runs.devices.shards import Shards
from pairvdn.runs.epochs import Report, Run, run_epochs
from pairvdn.runs.folder import (
    RunFolder,
    is_finished,
    locked,
    read_config,
    require_new,
    run_folders,
    seeds_of,
)
from pairvdn.runs.loggers import Logger
from pairvdn.runs.saving import explained
from pairvdn.runs.training import make_training


def _ignore(_: Any) -> None:
    """Ignore a message."""


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

    Seeds whose environments are stepped on the host train one after the other. `shards` names
    several devices; if there are several processes, the first one writes and reports.

    Raises `FolderError` if the folder exists, `Interrupted` after a signal, `Diverged` if learning
    diverged, `RunError` if the state cannot be written.
    """
    folder = Path(folder)
    config = config if seed is None else config.replace({"seed": seed})
    if num_seeds is not None and num_seeds < 1:
        raise ConfigError(f"seeds must be at least 1, not {num_seeds}.")
    built = config.build()
    _require_memory(built)
    layout = None if shards is None else shards.layout(built, num_seeds)
    group = SINGLE if layout is None else layout.group
    with explained(folder), contextlib.ExitStack() as stack:
        group.all_or_none(
            lambda: _create(folder, config, num_seeds, stack) if group.leads else None
        )
        if group.leads:
            say(f"training {config.env.name}/{config.method.name} into {folder}")
        _train_folder(folder, config, built, _Listeners(on_epoch, say, make_loggers), layout)


def resume(
    folder: str | Path,
    *,
    trust: bool = False,
    on_epoch: Callable[[Report], None] = _ignore,
    say: Callable[[str], None] = _ignore,
    make_loggers: Callable[[Path], Sequence[Logger]] = lambda _: (),
    shards: Shards | None = None,
) -> bool:
    """Resume a run, or all runs of a folder; False if they are finished.

    The result is bit for bit that of an uninterrupted run, unless episodes restart because
    environments are stepped on the host, or the devices differ; both print a warning. `trust`
    imports the modules that the run's config names. `shards` is as in `train`.
    """
    folder = Path(folder)
    config = read_config(folder, trust=trust)
    if all(is_finished(run, config) for run in run_folders(folder)):
        return False
    built = config.build()
    seeds = seeds_of(folder)
    layout = None
    if shards is not None:
        layout = shards.layout(built, None if seeds is None else len(seeds))
    group = SINGLE if layout is None else layout.group
    with explained(folder), contextlib.ExitStack() as stack:
        lock = locked(folder) if group.leads else contextlib.nullcontext()
        group.all_or_none(lambda: stack.enter_context(lock))
        _train_folder(folder, config, built, _Listeners(on_epoch, say, make_loggers), layout)
    return True


@dataclasses.dataclass(frozen=True)
class _Listeners:
    """Functions to call with the progress of a run."""

    on_epoch: Callable[[Report], None] = _ignore
    say: Callable[[str], None] = _ignore
    make_loggers: Callable[[Path], Sequence[Logger]] = lambda _: ()


def _create(
    folder: Path, config: Config, num_seeds: int | None, stack: contextlib.ExitStack
) -> None:
    """Lock a new folder and write its constant files."""
    require_new(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stack.enter_context(locked(folder))
    require_new(folder)
    if num_seeds is None:
        RunFolder(folder).create(config)
    else:
        seeds = list(range(config.seed, config.seed + num_seeds))
        checkpoint.write_text(folder / "seeds.json", json.dumps(seeds))
        checkpoint.write_text(folder / "config.toml", config.to_toml())


def _train_folder(
    folder: Path,
    config: Config,
    built: Built,
    listeners: _Listeners,
    layout: Layout | None,
) -> None:
    """Train all runs of a locked folder, from their newest common checkpoint."""
    group = SINGLE if layout is None else layout.group
    listeners = listeners if group.leads else _Listeners()
    # A process that cannot see the files of the first one fails here, before training.
    seeds = group.all_or_none(lambda: seeds_of(folder))
    folders = [RunFolder(path) for path in group.all_or_none(lambda: run_folders(folder))]
    with contextlib.ExitStack() as stack:
        if seeds is not None and group.leads:
            for one, seed in zip(folders, seeds, strict=True):
                one.path.mkdir(exist_ok=True)
                stack.enter_context(locked(one.path))
                if not (one.path / "config.toml").exists():
                    one.create(config.replace({"seed": seed}))
        loggers = [stack.enter_context(logger) for logger in listeners.make_loggers(folder)]
        for run in _runs(config, built, folder, folders, seeds, listeners.say, layout):
            try:
                run_epochs(run, on_epoch=listeners.on_epoch, say=listeners.say, loggers=loggers)
            except Diverged as error:
                if len(folders) == 1:
                    raise
                listeners.say(f"warning: {run.folders[0].path.name}: {error}")


def _runs(
    config: Config,
    built: Built,
    named: Path,
    folders: Sequence[RunFolder],
    seeds: Sequence[int] | None,
    say: Callable[[str], None],
    layout: Layout | None,
) -> Iterator[Run]:
    """One run for all seeds if they can be compiled together, otherwise one after the other."""
    if seeds is None or isinstance(built.env, Environment):
        training = make_training(config, built, config.seed if seeds is None else seeds, layout)
        yield Run(config, folders, training, named)
    else:
        say("environments on the host cannot be compiled: seeds train one after the other")
        for seed, folder in zip(seeds, folders, strict=True):
            if not is_finished(folder.path, config):
                say(f"seed {seed}:")
                yield Run(config, [folder], make_training(config, built, seed), named)


def _require_memory(built: Built) -> None:
    """Raise `ConfigError` for a replay that cannot fit: full-size pictures need terabytes.

    Only for environments on the host; the observations of all others are small.
    """
    if not isinstance(built.env, HostEnvironment):
        return
    leaves = jax.tree.leaves(built.learner.shape())
    needed = sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves)
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > available:
        raise ConfigError(
            f"The replay would take {needed / 2**30:,.0f} GiB, and this machine has "
            f"{available / 2**30:,.0f}: lower learner.replay_capacity, or env.image_size if agents "
            f"see pictures (an observation has {built.env.observation_size} numbers)."
        )
