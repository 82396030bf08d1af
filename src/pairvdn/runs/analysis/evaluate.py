"""Runs on disk -> numbers: greedy episodes of a run, or of every seed of a folder of runs."""

import dataclasses
import json
import zlib
from pathlib import Path
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import numpy as np

from pairvdn import __version__
from pairvdn.envs import Task
from pairvdn.evaluation import Played, play_greedy, play_random, report
from pairvdn.runs.checkpoint import write_text
from pairvdn.config.errors import ConfigError
from pairvdn.runs.folder import RunFolder, read_metrics, run_folders
from pairvdn.runs.pretrained import is_pretrained, run_path
from pairvdn.runs.load import Loaded, load
from pairvdn.runs.saving import explained


@dataclasses.dataclass(frozen=True)
class Settings:
    """Which greedy episodes are played; `max_steps` None is the length that `env` says."""

    MOST_EPISODES: ClassVar[int] = 100_000
    MOST_STEPS: ClassVar[int] = 1_000_000

    episodes: int = 20
    max_steps: int | None = None
    seed: int = 0
    checkpoint: Literal["last", "best"] = "last"

    def __post_init__(self) -> None:
        require_within("episodes", self.episodes, 1, self.MOST_EPISODES)
        require_within("seed", self.seed, 0, 2**32 - 1)
        if self.max_steps is not None:
            require_within("max-steps", self.max_steps, 1, self.MOST_STEPS)


def evaluate(folder: str | Path, settings: Settings, *, trust: bool = False) -> dict[str, Any]:
    """Evaluate a run, or all seeds of a folder of runs, and keep the result in `evaluations/`.

    The numbers depend on what was learned and on the settings alone. A result that is already
    there, of the same parameters and settings, is not computed again. `trust` is as in `load`.
    """
    folder = run_path(folder)
    runs = run_folders(folder)
    reports: list[dict[str, Any]] = []
    for run in runs:  # which play in the same environment: chance needs to play but once
        random = _random_played(reports[0]) if reports else None
        reports.append(_evaluate_run(run, settings, random, trust=trust))
    if runs == [folder]:
        return reports[0]
    together = _described(
        str(folder),
        reports[0],
        report([_seed_played(one) for one in reports], _random_played(reports[0])),
        {
            "seeds": len(reports),
            "diverged": sum(one["extra"]["diverged"] for one in reports),
            "epochs": [epoch for one in reports for epoch in one["extra"]["epochs"]],
        },
    )
    with explained(folder):
        _keep(folder, settings, together)
    return together


def moments(usual_steps: int, max_steps: int) -> tuple[int, ...]:
    """When measures are taken: where episodes usually end, and at the end of these."""
    return tuple(sorted({min(usual_steps, max_steps), max_steps}))


def env_for(loaded: Loaded, max_steps: int | None) -> Task:
    """The environment of a run with episodes of another length."""
    if max_steps is None or max_steps == loaded.env.max_steps:
        return loaded.env
    env: Task = loaded.config.replace({"env.max_steps": max_steps}).env.build()
    return env


def diverged(run: Path) -> bool:
    """Whether learning blew up in this run; its last checkpoint holds what was sound before."""
    lines = read_metrics(run)
    return bool(lines) and bool(lines[-1]["diverged"])


def _evaluate_run(
    run: Path, settings: Settings, random: Played | None, *, trust: bool
) -> dict[str, Any]:
    loaded = load(run, settings.checkpoint, trust=trust)
    fingerprint = _fingerprint(loaded)
    env = env_for(loaded, settings.max_steps)
    known = _kept(run, settings)
    if known is not None and known["extra"].get("fingerprint") == fingerprint:
        return {**known, "run": str(run)}  # the folder may have moved
    when = moments(loaded.env.max_steps, env.max_steps)
    greedy = play_greedy(
        env,
        loaded.value,
        episodes=settings.episodes,
        seed=settings.seed,
        action_repeat=loaded.action_repeat,
        moments=when,
    )
    about = {
        "environment": loaded.config.env.name,
        "method": loaded.config.method.name,
        "checkpoint": settings.checkpoint,
        "episodes": settings.episodes,
        "max_steps": env.max_steps,
        "seed": settings.seed,
    }
    facts = {
        "seeds": 1,
        "diverged": int(diverged(run)),
        "epochs": [loaded.epoch],
        "fingerprint": fingerprint,
    }
    random = random or play_random(env, seed=settings.seed, moments=when)
    numbers = report([greedy], random)
    evaluated = _described(str(run), about, numbers, facts)
    with explained(run):
        _keep(run, settings, evaluated)
    return evaluated


def _described(
    run: str, about: dict[str, Any], numbers: dict[str, Any], facts: dict[str, Any]
) -> dict[str, Any]:
    """The object that `evaluate --json` prints."""
    keys = ("environment", "method", "checkpoint", "episodes", "max_steps", "seed")
    return {
        "run": run,
        **{key: about[key] for key in keys},
        **numbers,
        "extra": {**facts, **numbers["extra"]},
    }


def _seed_played(evaluated: dict[str, Any]) -> Played:
    """The episodes of one seed, out of its report."""
    return _played(evaluated["return"], evaluated["extra"])


def _random_played(evaluated: dict[str, Any]) -> Played:
    return _played(evaluated["random"], evaluated["extra"]["random"])


def _played(returns: dict[str, Any], extra: dict[str, Any]) -> Played:
    return Played(
        np.array(returns["values"]),
        {
            name: {int(moment): np.array(one["values"]) for moment, one in by_moment.items()}
            for name, by_moment in extra["measures"].items()
        },
        {name: np.array(one["values"] if one else []) for name, one in extra["shares"].items()},
    )


def _fingerprint(loaded: Loaded) -> str:
    """A checksum of everything that was learned, and of where it plays."""
    world = {"version": __version__, **loaded.config.to_dict()["env"]}
    checksum = zlib.crc32(json.dumps(world, sort_keys=True).encode())
    for leaf in jax.tree.leaves(eqx.filter(loaded.value, eqx.is_array)):
        checksum = zlib.crc32(np.ascontiguousarray(leaf).data, checksum)
    return f"{checksum:08x}"


def _file(folder: Path, settings: Settings) -> Path:
    steps = "usual" if settings.max_steps is None else str(settings.max_steps)
    name = f"{settings.checkpoint}-episodes-{settings.episodes}-steps-{steps}-seed-{settings.seed}"
    return RunFolder(folder).evaluations / f"{name}.json"


def _kept(folder: Path, settings: Settings) -> dict[str, Any] | None:
    """A result of before; None where there is none that can be read."""
    try:
        known: dict[str, Any] = json.loads(_file(folder, settings).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and "extra" in known else None


def _keep(folder: Path, settings: Settings, evaluated: dict[str, Any]) -> None:
    if is_pretrained(folder):  # a package is not written to
        return
    file = _file(folder, settings)
    file.parent.mkdir(exist_ok=True)
    write_text(file, json.dumps(evaluated, indent=2) + "\n")


def require_within(name: str, number: int, least: int, most: int) -> None:
    """Refuse a setting outside of its range."""
    if not least <= number <= most:
        raise ConfigError(f"{name} must be from {least} to {most}, not {number}.")
