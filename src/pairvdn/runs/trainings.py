"""How the seeds of a folder are trained: side by side where that can be compiled, else in turn."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import jax

from pairvdn.envs import Environment, HostEnvironment
from pairvdn.config.config import Built, Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs.folder import RunFolder, is_finished
from pairvdn.runs.training import HostSeed
from pairvdn.runs.devices.layout import Layout
from pairvdn.runs.epochs import Run
from pairvdn.runs.training import OneSeed, Seeds, SeveralSeeds


def require_memory(built: Built) -> None:
    """Refuse a state that cannot fit: pictures, unless shrunk, make a replay of terabytes.

    Only where environments are somebody else's; ours are known to be small.
    """
    if not isinstance(built.env, HostEnvironment):
        return
    leaves = jax.tree.leaves(built.learner.shape())
    needed = sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise ConfigError(
            f"The replay would take {needed / 2**30:,.0f} GiB, and this machine has "
            f"{there / 2**30:,.0f}: lower learner.replay_capacity, or env.image_size if agents see "
            f"pictures (an observation has {built.env.observation_size} numbers)."
        )


def training_of_one(config: Config, built: Built, seed: int, layout: Layout | None = None) -> Seeds:
    """The training of a single run, on one device unless there is a `layout`."""
    episodes = config.evaluation.episodes
    if isinstance(built.env, HostEnvironment):
        return HostSeed(built.learner, built.env, seed, episodes=episodes)
    assert isinstance(built.env, Environment)  # there is no third kind
    return OneSeed(built.learner, built.env, [seed], episodes=episodes, layout=layout)


def trainings(
    config: Config,
    built: Built,
    named: Path,
    folders: Sequence[RunFolder],
    seeds: Sequence[int] | None,
    say: Callable[[str], None],
    layout: Layout | None = None,
) -> Iterator[Run]:
    """What to train, one after the other, so that every folder has its run."""
    if seeds is None:
        yield Run(config, folders, training_of_one(config, built, config.seed, layout), named)
    elif isinstance(built.env, Environment):
        episodes = config.evaluation.episodes
        training = SeveralSeeds(built.learner, built.env, seeds, episodes=episodes, layout=layout)
        yield Run(config, folders, training, named)
    else:
        say("environments on the host cannot be compiled: seeds are trained one after the other")
        for seed, folder in zip(seeds, folders, strict=True):
            if not is_finished(folder.path, config):
                say(f"seed {seed}:")
                yield Run(config, [folder], training_of_one(config, built, seed), named)
