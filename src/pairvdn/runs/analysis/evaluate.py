"""Evaluating runs: greedy episodes of a run, or of every seed of a folder of runs."""

import dataclasses
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import numpy as np

import pairvdn
from pairvdn.checks import require_within
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.envs import Task
from pairvdn.evaluation import (
    PolicySummary,
    play_greedy,
    play_random,
    pool_seeds,
    summarise_played,
)
from pairvdn.runs.files import (
    is_unchanged,
    make_folder,
    parse_json,
    read_text,
    require_no_link,
    signed,
    write_text,
)
from pairvdn.runs.folder import RunFolder, is_pretrained, run_folders, run_path
from pairvdn.runs.load import Loaded, Which, load
from pairvdn.runs.metrics import read_metrics
from pairvdn.runs.saving import explained


@dataclasses.dataclass(frozen=True)
class Settings:
    """The greedy episodes to play; without `max_steps` they have the length of the run's config.

    Measures are taken at the end of an episode, at its usual end, and after `measured_at` steps.
    """

    episodes: int = 20
    max_steps: int | None = None
    seed: int = 0
    checkpoint: Which = "last"
    measured_at: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for steps in self.measured_at:
            require_setting(1, 1_000_000, measured_at=steps)
        self.require_most(episodes=100_000, max_steps=1_000_000)
        require_setting(0, 2**32 - 1, seed=self.seed)

    def require_most(self, *, episodes: int, max_steps: int) -> None:
        """Raise `ConfigError` if there are more, or longer, episodes than this."""
        require_setting(1, episodes, episodes=self.episodes)
        if self.max_steps is not None:
            require_setting(1, max_steps, **{"max-steps": self.max_steps})


def require_setting(least: int, most: int, **setting: int) -> None:
    """Raise `ConfigError` unless a setting is from `least` to `most`."""
    try:
        require_within(least, most, **setting)
    except ValueError as error:
        raise ConfigError(one_line(error)) from error


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """The result of evaluating a run, or all seeds of a folder of runs.

    The summaries of `greedy` are over the episodes of one training seed, or over the means of
    several seeds; those of `random` are always over episodes. `diverged` counts seeds, `epochs`
    are those of their checkpoints. `fingerprint` identifies the parameters of a single run.
    """

    run: str
    environment: str
    method: str
    checkpoint: str
    episodes: int
    max_steps: int
    seed: int
    greedy: PolicySummary
    random: PolicySummary
    seeds: int
    diverged: int
    epochs: tuple[int, ...]
    fingerprint: str | None = None

    @property
    def interval_over(self) -> Literal["episodes", "seeds"]:
        """The unit of the intervals of `greedy`."""
        return "episodes" if self.seeds == 1 else "seeds"

    def to_dict(self) -> dict[str, Any]:
        """The object that `evaluate --json` prints."""
        greedy, random = self.greedy.to_dict(), self.random.to_dict()
        about = {name: getattr(self, name) for name in _ABOUT}
        returns = {"return": greedy.pop("return"), "random": random.pop("return")}
        facts = {"seeds": self.seeds, "diverged": self.diverged, "epochs": list(self.epochs)}
        if self.fingerprint is not None:
            facts["fingerprint"] = self.fingerprint
        extra = {**facts, **greedy, "random": random}
        return {**about, **returns, "interval_over": self.interval_over, "extra": extra}

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> "Evaluated":
        """The inverse of `to_dict`."""
        extra = plain["extra"]
        return Evaluated(
            **{name: plain[name] for name in _ABOUT},
            greedy=PolicySummary.from_dict({**extra, "return": plain["return"]}),
            random=PolicySummary.from_dict({**extra["random"], "return": plain["random"]}),
            seeds=extra["seeds"],
            diverged=extra["diverged"],
            epochs=tuple(extra["epochs"]),
            fingerprint=extra.get("fingerprint"),
        )


_ABOUT = ("run", "environment", "method", "checkpoint", "episodes", "max_steps", "seed")


def evaluate(folder: str | Path, settings: Settings, *, trust: bool = False) -> Evaluated:
    """Evaluate a run, or all seeds of a folder of runs, and keep the result in `evaluations/`.

    The numbers depend only on parameters and settings; a stored result of the same ones is used
    again. `trust` is as in `load`.
    """
    folder = run_path(folder)
    runs = run_folders(folder)
    require_no_link(*(run for run in runs if run != folder))  # results are stored there
    evaluated: list[Evaluated] = []
    for run in runs:  # they share an environment, so the random policy plays only once
        random = evaluated[0].random if evaluated else None
        evaluated.append(_evaluate_run(run, settings, random, trust=trust))
    if runs == [folder]:
        return evaluated[0]
    together = _pooled(folder, evaluated)
    _store(folder, settings, together)
    return together


def moments(usual_steps: int, max_steps: int, measured_at: Sequence[int] = ()) -> tuple[int, ...]:
    """The steps after which measures are taken: the usual end, the end, and the given ones."""
    return tuple(
        sorted({min(steps, max_steps) for steps in (usual_steps, max_steps, *measured_at)})
    )


def env_for(loaded: Loaded, max_steps: int | None) -> Task:
    """The environment of a run with episodes of another length."""
    if max_steps is None or max_steps == loaded.env.max_steps:
        return loaded.env
    return loaded.config.replace({"env.max_steps": max_steps}).build_env()


def diverged(run: Path) -> bool:
    """Whether a run diverged; its last checkpoint has the parameters before that."""
    lines = read_metrics(run)
    return bool(lines) and bool(lines[-1]["diverged"])


def _evaluate_run(
    run: Path, settings: Settings, random: PolicySummary | None, *, trust: bool
) -> Evaluated:
    loaded = load(run, settings.checkpoint, trust=trust)
    fingerprint = _fingerprint(loaded)
    env = env_for(loaded, settings.max_steps)
    known = _stored(run, settings)
    if known is not None and known.fingerprint == fingerprint:
        return dataclasses.replace(known, run=str(run))  # the folder may have moved
    when = moments(loaded.env.max_steps, env.max_steps, settings.measured_at)
    greedy = play_greedy(
        env,
        loaded.value,
        episodes=settings.episodes,
        seed=settings.seed,
        action_repeat=loaded.action_repeat,
        moments=when,
    )
    evaluated = Evaluated(
        run=str(run),
        environment=loaded.config.env.name,
        method=loaded.config.method.name,
        checkpoint=settings.checkpoint,
        episodes=settings.episodes,
        max_steps=env.max_steps,
        seed=settings.seed,
        greedy=summarise_played(greedy),
        random=random or summarise_played(play_random(env, seed=settings.seed, moments=when)),
        seeds=1,
        diverged=int(diverged(run)),
        epochs=(loaded.epoch,),
        fingerprint=fingerprint,
    )
    _store(run, settings, evaluated)
    return evaluated


def _pooled(folder: Path, seeds: Sequence[Evaluated]) -> Evaluated:
    return dataclasses.replace(
        seeds[0],
        run=str(folder),
        greedy=pool_seeds([seed.greedy for seed in seeds]),
        seeds=len(seeds),
        diverged=sum(seed.diverged for seed in seeds),
        epochs=tuple(epoch for seed in seeds for epoch in seed.epochs),
        fingerprint=None,
    )


def _fingerprint(loaded: Loaded) -> str:
    """A checksum of all parameters and of the environment."""
    world = {"version": pairvdn.__version__, **loaded.config.to_dict()["env"]}
    checksum = zlib.crc32(json.dumps(world, sort_keys=True).encode())
    for leaf in jax.tree.leaves(eqx.filter(loaded.value, eqx.is_array)):
        checksum = zlib.crc32(np.ascontiguousarray(leaf).data, checksum)
    return f"{checksum:08x}"


def _file(folder: Path, settings: Settings) -> Path:
    steps = "usual" if settings.max_steps is None else str(settings.max_steps)
    name = f"{settings.checkpoint}-episodes-{settings.episodes}-steps-{steps}-seed-{settings.seed}"
    if settings.measured_at:
        name += "-at-" + "-".join(map(str, settings.measured_at))
    return RunFolder(folder).evaluations / f"{name}.json"


def _stored(folder: Path, settings: Settings) -> Evaluated | None:
    """The stored result; None if it is missing, damaged or of another form."""
    file = _file(folder, settings)
    try:
        text = read_text(file).rstrip()
        if not is_unchanged(text):
            return None
        return Evaluated.from_dict(parse_json(file, text))
    except Exception:  # it may hold anything
        return None


def _store(folder: Path, settings: Settings, evaluated: Evaluated) -> None:
    if is_pretrained(folder):
        return
    file = _file(folder, settings)
    try:
        text = json.dumps(evaluated.to_dict(), indent=2, allow_nan=False)
    except ValueError:  # JSON has no NaN: a result with one is not kept
        return
    with explained(folder):
        make_folder(file.parent)
        write_text(file, signed(text) + "\n")
