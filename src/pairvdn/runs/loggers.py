"""Loggers: TensorBoard and Weights & Biases, besides the run folder itself."""

import contextlib
import importlib.util
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs.metrics import CLOCK

# Called with a seed and a line of its metrics.
Log = Callable[[int, Mapping[str, Any]], None]
Logger = contextlib.AbstractContextManager[Log]


def scalars(line: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a line of metrics, including its clock and evaluation."""
    numbers = {key: value for key, value in line.items() if isinstance(value, int | float)}
    clock = {f"{CLOCK}/{key}": value for key, value in line[CLOCK].items()}
    evaluation = {"evaluation/return": line["evaluation"]["mean"]} if "evaluation" in line else {}
    return {key: float(value) for key, value in (numbers | clock | evaluation).items()}


def has_tensorboard() -> bool:
    """Whether tensorboardX is installed."""
    return importlib.util.find_spec("tensorboardX") is not None


@contextlib.contextmanager
def tensorboard(folder: Path) -> Iterator[Log]:
    """Write event files to `folder/tensorboard`, one curve for each seed."""
    from tensorboardX import SummaryWriter

    writers: dict[int, Any] = {}

    def log(seed: int, line: Mapping[str, Any]) -> None:
        if seed not in writers:
            # Epochs that are trained again after a kill replace those logged before.
            target = str(folder / "tensorboard" / f"seed-{seed}")
            writers[seed] = SummaryWriter(target, purge_step=line["epoch"])
        for name, number in scalars(line).items():
            writers[seed].add_scalar(name, number, line["epoch"])

    try:
        yield log
    finally:
        for writer in writers.values():
            writer.close()


def require_wandb() -> None:
    """Raise `ConfigError` unless wandb is installed."""
    if importlib.util.find_spec("wandb") is None:
        raise ConfigError("--wandb needs the package wandb: pip install 'pairvdn[logging]'.")


@contextlib.contextmanager
def wandb(folder: Path, config: Config) -> Iterator[Log]:
    """Log to Weights & Biases; `WANDB_MODE=offline` keeps everything in `folder/wandb`."""
    import wandb as library

    # A resumed folder continues its curve; two folders of the same name have two curves.
    location = zlib.crc32(str(folder.resolve()).encode())
    run = library.init(
        project="pairvdn",
        name=folder.name,
        dir=str(folder),
        config=config.to_dict(),
        id=f"{folder.name}-{location:08x}",
        resume="allow",
    )

    def log(seed: int, line: Mapping[str, Any]) -> None:
        named = {f"seed-{seed}/{name}": number for name, number in scalars(line).items()}
        run.log(named, step=line["epoch"])

    try:
        yield log
    finally:
        run.finish()
