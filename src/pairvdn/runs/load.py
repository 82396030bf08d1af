"""Loading what a run has learned."""

import dataclasses
import warnings
from pathlib import Path
from typing import Any, Literal

import jax

from pairvdn.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Task
from pairvdn.learning import Learner
from pairvdn.runs import checkpoint
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.folder import BEST, VALUE_INSIDE, RunFolder, read_config, seeds_of
from pairvdn.runs.pretrained import run_path
from pairvdn.runs.saving import require_same
from pairvdn.values import Value


@dataclasses.dataclass(frozen=True)
class Loaded:
    """What a run has learned, ready to act, and what it was learned with.

    `action_repeat` is how many steps the agents hold an action; `epoch` how many epochs were done.
    """

    value: Value[Any]
    env: Task
    config: Config
    learner: Learner
    folder: Path
    checkpoint: Literal["last", "best"]
    epoch: int
    action_repeat: int


def load(
    folder: str | Path, checkpoint: Literal["last", "best"] = "last", *, trust: bool = False
) -> Loaded:
    """Load what a run has learned, while it trains or later; `trust` is as in `read_config`.

    `last` is the newest checkpoint that is sound, `best` the one with the best evaluation.
    """
    folder = run_path(folder)
    if checkpoint not in ("last", BEST):
        raise ConfigError(f"checkpoint must be 'last' or 'best', not {checkpoint!r}.")
    config = read_config(folder, trust=trust)
    seeds = seeds_of(folder)
    if seeds is not None:
        raise FolderError(f"{folder} holds {len(seeds)} runs; name one, {folder}/seed-{seeds[0]}.")
    env, _, learner = config.build()
    arrays, epoch = _value_arrays(RunFolder(folder), checkpoint, learner)
    return Loaded(
        value=learner.updater.whole(arrays),
        env=env,
        config=config,
        learner=learner,
        folder=folder,
        checkpoint=checkpoint,
        epoch=epoch,
        action_repeat=learner.collector.action_repeat,
    )


def _value_arrays(folder: RunFolder, which: str, learner: Learner) -> tuple[Value[Any], int]:
    """The newest sound arrays of a value, and of which epoch they are."""
    shape = jax.eval_shape(learner.updater.init, jax.random.PRNGKey(0)).value
    best = checkpoint.existing(folder.checkpoints / BEST)
    paths = [best] if which == BEST else folder.saved()[::-1]
    for path in paths:
        try:
            arrays = checkpoint.read(path, "learner", shape, inside=VALUE_INSIDE)
            epoch = int(checkpoint.facts(path)["epoch"])
        except checkpoint.DamagedError as error:
            if path.exists():
                warnings.warn(f"{path} is not used: {error}", stacklevel=3)
            continue
        for array, like in zip(jax.tree.leaves(arrays), jax.tree.leaves(shape), strict=True):
            require_same(path, array, like)
        return jax.tree.map(jax.numpy.asarray, arrays), epoch
    raise RunError(f"{folder.path} has no {which} checkpoint that can be used yet.")
