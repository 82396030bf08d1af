"""How the seeds of a folder are trained: side by side where that can be compiled, else in turn."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pairvdn.envs import Environment, HostEnvironment
from pairvdn.experiment.config import Built, Config
from pairvdn.experiment.folder import RunFolder, is_finished
from pairvdn.experiment.host_seed import HostSeed
from pairvdn.experiment.loop import Run
from pairvdn.experiment.seeds import OneSeed, Seeds, SeveralSeeds


def training_of_one(config: Config, built: Built, seed: int) -> Seeds:
    """The training of a single run."""
    episodes = config.evaluation.episodes
    if isinstance(built.env, HostEnvironment):
        return HostSeed(built.learner, built.env, seed, episodes=episodes)
    assert isinstance(built.env, Environment)  # there is no third kind
    return OneSeed(built.learner, built.env, [seed], episodes=episodes)


def trainings(
    config: Config,
    built: Built,
    named: Path,
    folders: Sequence[RunFolder],
    seeds: Sequence[int] | None,
    say: Callable[[str], None],
) -> Iterator[Run]:
    """What to train, one after the other, so that every folder has its run."""
    if seeds is None:
        yield Run(config, folders, training_of_one(config, built, config.seed), named)
    elif isinstance(built.env, Environment):
        episodes = config.evaluation.episodes
        training = SeveralSeeds(built.learner, built.env, seeds, episodes=episodes)
        yield Run(config, folders, training, named)
    else:
        say("environments on the host cannot be compiled: seeds are trained one after the other")
        for seed, folder in zip(seeds, folders, strict=True):
            if not is_finished(folder.path, config):
                say(f"seed {seed}:")
                yield Run(config, [folder], training_of_one(config, built, seed), named)
