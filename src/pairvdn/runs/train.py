"""Training into a run folder, resuming it, and extending a finished one."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pairvdn.config.config import Built, Config
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Environment
from pairvdn.learning import Diverged
from pairvdn.runs.devices.layout import Layout
from pairvdn.runs.devices.processes import SINGLE
from pairvdn.runs.devices.shards import Shards
from pairvdn.runs.epochs import Report, Run, run_epochs
from pairvdn.runs.errors import BusyError, FolderError
from pairvdn.runs.files import require_no_link, write_text
from pairvdn.runs.folder import (
    RunFolder,
    is_finished,
    locked,
    read_config,
    require_new,
    run_folders,
    seeds_of,
    seeds_text,
)
from pairvdn.runs.loggers import Logger
from pairvdn.runs.memory import require_memory
from pairvdn.runs.open_files import require_open_files
from pairvdn.runs.refill import acting_only
from pairvdn.runs.saving import explained, require_unchanged
from pairvdn.runs.training import Training, make_training

MOST_SEEDS = 10_000  # each has a folder


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
    if num_seeds is not None:
        _require_seeds(config.seed, num_seeds)
    built = config.build()
    require_memory(config, built, num_seeds or 1)
    require_open_files(num_seeds or 1)
    layout = None if shards is None else shards.layout(built, num_seeds)
    group = SINGLE if layout is None else layout.group
    with explained(folder), contextlib.ExitStack() as stack:
        group.all_or_none(
            lambda: _create(folder, config, num_seeds, stack) if group.leads else None
        )
        if group.leads:
            say(f"training {config.env.name}/{config.method.name} into {folder}")
        listeners = _Listeners(on_epoch, say, make_loggers)
        _train_folder(folder, config, built, listeners, layout, shards)


def resume(
    folder: str | Path,
    *,
    epochs: int | None = None,
    changed: bool = False,
    trust: bool = False,
    on_epoch: Callable[[Report], None] = _ignore,
    say: Callable[[str], None] = _ignore,
    make_loggers: Callable[[Path], Sequence[Logger]] = lambda _: (),
    shards: Shards | None = None,
) -> bool:
    """Resume a run, or all runs of a folder; False if they are finished.

    The result is bit for bit that of an uninterrupted run, unless episodes restart because
    environments are stepped on the host, or the devices differ; both print a warning. Raises
    `FolderError` if settings or software are not those of the newest checkpoint; `changed` resumes
    nevertheless. `epochs` is a new length of the run: a finished one is extended, which is not
    exact unless it kept its replay. `trust` imports the modules that the run's config names.
    `shards` is as in `train`.
    """
    folder = Path(folder)
    config = read_config(folder, trust=trust)
    runs = list(map(RunFolder, run_folders(folder)))
    config = _with_length(folder, config, epochs, runs)
    if all(is_finished(run.path, config) for run in runs):
        if not config.checkpoints.keep_replay:
            _drop_replays(folder, runs)
        return False
    built = config.build()
    seeds = seeds_of(folder)
    require_memory(config, built, len(runs))
    require_open_files(len(runs))
    layout = None
    if shards is not None:
        layout = shards.layout(built, None if seeds is None else len(seeds))
    group = SINGLE if layout is None else layout.group
    with explained(folder), contextlib.ExitStack() as stack:
        lock = locked(folder) if group.leads else contextlib.nullcontext()
        group.all_or_none(lambda: stack.enter_context(lock))
        listeners = _Listeners(on_epoch, say if group.leads else _ignore, make_loggers)
        group.all_or_none(
            lambda: require_unchanged(runs, config, seeds, changed=changed, say=listeners.say)
        )
        if epochs is not None and group.leads:
            for run in [*runs, RunFolder(folder)]:  # the folder of several seeds comes last
                if (run.path / "config.toml").exists():
                    run.write_config(read_config(run.path, trust=trust).replace({"epochs": epochs}))
        _train_folder(folder, config, built, listeners, layout, shards)
    return True


def _require_seeds(first: int, number: int) -> None:
    """Raise `ConfigError` for too many seeds, or for a last one that does not exist."""
    if not 1 <= number <= MOST_SEEDS:
        raise ConfigError(f"seeds must be from 1 to {MOST_SEEDS}, not {number}.")
    if first + number > 2**32:
        raise ConfigError(
            f"seed + seeds must be at most 2**32, not {first} + {number}: choose a smaller seed."
        )


def _drop_replays(folder: Path, runs: Sequence[RunFolder]) -> None:
    """Remove what a process left behind that died just before the end."""
    if any(run.has_replays() for run in runs):
        with explained(folder), contextlib.suppress(BusyError), locked(folder):
            require_no_link(*(run.path for run in runs))
            for run in runs:
                with locked(run.path) if run.path != folder else contextlib.nullcontext():
                    run.drop_replays(0)


def _with_length(
    folder: Path, config: Config, epochs: int | None, runs: Sequence[RunFolder]
) -> Config:
    """The config with this number of epochs, if given; no fewer than are already trained."""
    trained = max((run.trained_epochs() for run in runs), default=0)
    if epochs is None and config.epochs < trained:
        raise FolderError(
            f"{folder}/config.toml has epochs = {config.epochs}, but {trained} are already "
            "trained: restore the number; --epochs extends a run."
        )
    if epochs is not None and epochs < trained:
        raise ConfigError(
            f"--epochs must be at least {trained}, the number of epochs already trained, not "
            f"{epochs}."
        )
    return config if epochs is None else config.replace({"epochs": epochs})


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
        write_text(folder / "seeds.json", seeds_text(seeds))
        RunFolder(folder).write_config(config)


def _train_folder(
    folder: Path,
    config: Config,
    built: Built,
    listeners: _Listeners,
    layout: Layout | None,
    shards: Shards | None,
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
                require_no_link(one.path)
                one.path.mkdir(exist_ok=True)
                stack.enter_context(locked(one.path))
                if not (one.path / "config.toml").exists():
                    one.create(config.replace({"seed": seed}))
        loggers = [stack.enter_context(logger) for logger in listeners.make_loggers(folder)]
        make = functools.partial(_make_training, config, built, layout, shards)
        for run in _runs(config, built, folder, folders, seeds, listeners.say, make):
            try:
                run_epochs(run, on_epoch=listeners.on_epoch, say=listeners.say, loggers=loggers)
            except Diverged as error:
                if len(folders) == 1:
                    raise
                listeners.say(f"warning: {run.folders[0].path.name}: {error}")


# A training of these seeds; True for one without updates.
_Make = Callable[[int | Sequence[int], bool], Training]


def _make_training(
    config: Config,
    built: Built,
    layout: Layout | None,
    shards: Shards | None,
    seeds: int | Sequence[int],
    acting: bool,
) -> Training:
    if not acting:
        return make_training(config, built, seeds, layout)
    built = dataclasses.replace(built, learner=acting_only(built.learner))
    if shards is not None:
        layout = shards.layout(built, None if isinstance(seeds, int) else len(seeds))
    return make_training(config, built, seeds, layout)


def _runs(
    config: Config,
    built: Built,
    named: Path,
    folders: Sequence[RunFolder],
    seeds: Sequence[int] | None,
    say: Callable[[str], None],
    make: _Make,
) -> Iterator[Run]:
    """One run for all seeds if they can be compiled together, otherwise one after the other."""
    if seeds is None or isinstance(built.env, Environment):
        chosen = config.seed if seeds is None else seeds
        acting = functools.partial(make, chosen, True)
        yield Run(config, folders, make(chosen, False), acting, named)
    else:
        say("environments on the host cannot be compiled: seeds train one after the other")
        for seed, folder in zip(seeds, folders, strict=True):
            if not is_finished(folder.path, config):
                say(f"seed {seed}:")
                acting = functools.partial(make, seed, True)
                yield Run(config, [folder], make(seed, False), acting, named)
