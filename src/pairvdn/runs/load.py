"""Loading the learned value of a run; no learner is built."""

import dataclasses
import functools
import warnings
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from pairvdn.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Task
from pairvdn.runs import checkpoint as checkpoints
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.folder import BEST, VALUE_INSIDE, RunFolder, read_config, run_path, seeds_of
from pairvdn.runs.origin import changed_for_a_value
from pairvdn.values import Value

Which = Literal["last", "best"]  # checkpoint


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A learned value with its environment and config; the checkpoint is after `epoch` epochs."""

    value: Value[Any]
    env: Task
    config: Config
    folder: Path
    checkpoint: Which
    epoch: int
    action_repeat: int


def load(folder: str | Path, checkpoint: Which = "last", *, trust: bool = False) -> Loaded:
    """Load the value of a run, finished or in training.

    `last` is the newest intact checkpoint, `best` the one with the best evaluation. `trust`
    imports the modules that the run's config names: only for folders that you trust.
    """
    folder = run_path(folder)
    if checkpoint not in ("last", BEST):
        raise ConfigError(f"checkpoint must be 'last' or 'best', not {checkpoint!r}.")
    config = read_config(folder, trust=trust)
    seeds = seeds_of(folder)
    if seeds is not None:
        raise FolderError(
            f"{folder} holds {len(seeds)} runs; name one, for example {folder}/seed-{seeds[0]}."
        )
    env = config.build_env()
    value, epoch = _read_value(RunFolder(folder), checkpoint, config, env)
    return Loaded(
        value=value,
        env=env,
        config=config,
        folder=folder,
        checkpoint=checkpoint,
        epoch=epoch,
        action_repeat=int(config.learner.arguments.get("action_repeat", 1)),
    )


def _read_value(folder: RunFolder, which: str, config: Config, env: Task) -> tuple[Value[Any], int]:
    """The newest intact value, and its epoch."""
    make = functools.partial(config.make_value, env)
    shape, rest = eqx.partition(
        eqx.filter_eval_shape(lambda key: make(key=key), jax.random.PRNGKey(0)),
        lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct),
    )
    for path in [folder.best()] if which == BEST else folder.saved()[::-1]:
        try:
            facts = checkpoints.facts(path)
            arrays = checkpoints.read(path, "learner", shape, inside=VALUE_INSIDE)
        except checkpoints.DamagedError as error:
            if path.exists():
                warnings.warn(f"{path} is skipped: {error}", stacklevel=3)
            continue
        changed = changed_for_a_value(facts, config)
        if changed:
            warnings.warn(
                f"{folder.path}/config.toml was changed after training: {'; '.join(changed)}",
                stacklevel=3,
            )
        value: Value[Any] = eqx.combine(jax.tree.map(jnp.asarray, arrays), rest)
        return value, facts["epoch"]
    raise RunError(f"{folder.path} has no {which} checkpoint, or only damaged ones.")
