"""The loop over epochs: train, evaluate, write down, save; stop when asked."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pairvdn.experiment.config import Config
from pairvdn.experiment.errors import Interrupted
from pairvdn.experiment.folder import CLOCK, RunFolder, read_metrics
from pairvdn.experiment.loggers import Log
from pairvdn.experiment.saving import Rest, newest_sound, save, save_best, without_replay
from pairvdn.experiment.seeds import Seeds
from pairvdn.experiment.signals import Wish, stop_wished
from pairvdn.learning import Metrics, raise_if_diverged

_NOT_EXACT = (
    "warning: the environments are stepped on the host and cannot be saved: their episodes start "
    "anew, so this is not exactly the run that was stopped"
)


@dataclasses.dataclass(frozen=True)
class Run:
    """What is trained: a folder for each seed, and the folder that the user named."""

    config: Config
    folders: Sequence[RunFolder]
    training: Seeds
    named: Path


@dataclasses.dataclass(frozen=True)
class Report:
    """What one epoch came to: a line of metrics for each seed, and how long the rest may take."""

    epoch: int  # how many are done
    epochs: int
    lines: Sequence[dict[str, Any]]
    seconds_left: float


def go_on(
    run: Run,
    *,
    on_epoch: Callable[[Report], None],
    say: Callable[[str], None],
    loggers: Sequence[Log],
) -> None:
    """Train from the newest checkpoint, or from the start, to the end."""
    with stop_wished() as wish:
        _Loop(run, say).run(on_epoch, loggers, wish)


class _Loop:
    """The state of the loop."""

    def __init__(self, run: Run, say: Callable[[str], None]) -> None:
        self.config, self.folders, self.training = run.config, run.folders, run.training
        self.named, self.say = run.named, say
        found = newest_sound(self.folders, self.training.learner.shape(), say)
        if found is None:
            say("compiling the start ...")
            self.state, self.seconds = self.training.init(), 0.0
        else:
            states, self.seconds = found
            self.state = self.training.join(states)
            if not self.training.exact:
                say(_NOT_EXACT)
        self.epoch = self.saved_at = 0 if found is None else int(found[0][0].epoch)
        for folder in self.folders:
            folder.cut(self.epoch)
            folder.forget_after(self.epoch)
        self.best = [_best_return(read_metrics(folder.path)) for folder in self.folders]
        self.rest = Rest(self.config.checkpoints, self.epoch)
        self.saving = 0.0  # seconds

    def run(self, on_epoch: Callable[[Report], None], loggers: Sequence[Log], wish: Wish) -> None:
        """Do the epochs that are left."""
        self._stop_if_diverged()
        if self.epoch:
            self.say(f"going on after epoch {self.epoch} of {self.config.epochs}")
        self.say("compiling an epoch ...")
        self.training.compile(self.state)
        began, first = time.monotonic(), self.epoch
        while self.epoch < self.config.epochs:
            self._stop_if_wished(wish)
            lines = self._epoch()
            for seed, line in zip(self.training.seeds, lines, strict=True):
                for log in loggers:
                    log(seed, line)
            if self.epoch == self.config.epochs or self.rest.is_over(self.epoch):
                self._save()
            pace = (time.monotonic() - began) / (self.epoch - first)
            left = pace * (self.config.epochs - self.epoch)
            on_epoch(Report(self.epoch, self.config.epochs, lines, left))
            self._stop_if_diverged()
        self._name_diverged()
        if self.epoch > first:
            took = time.monotonic() - began
            self.say(f"trained for {took:.0f} s, {self.saving / took:.1%} of it went into saving")

    def _epoch(self) -> list[dict[str, Any]]:
        """Train and evaluate, and write down what came of it."""
        before = self._counts()
        start = time.monotonic()
        self.state, metrics = self.training.epoch(self.state)
        took = time.monotonic() - start
        self.epoch += 1
        steps, updates = ((self._counts() - before) / took).tolist()
        returns = self._evaluation()
        self.seconds += time.monotonic() - start
        clock = {
            "seconds": self.seconds,
            "env_steps_per_second": steps,
            "updates_per_second": updates,
        }
        lines = []
        for row, one in enumerate(self.training.split(metrics)):
            line = _plain(one) | ({} if returns is None else {"evaluation": returns[row]})
            self.folders[row].append(line | {CLOCK: clock})
            lines.append(line | {CLOCK: clock})
        if returns is not None:
            self._keep_best([one["mean"] for one in returns])
        return lines

    def _counts(self) -> np.ndarray:
        """Environment steps and updates so far, of all seeds."""
        counts = (self.state.env_steps, self.state.learned.updates)
        return np.array([np.asarray(count).sum(dtype=np.int64) for count in counts])

    def _evaluation(self) -> list[dict[str, Any]] | None:
        due = self.epoch % self.config.evaluation.every == 0 or self.epoch == self.config.epochs
        if not due:
            return None
        return [
            {"mean": float(np.mean(one, dtype=np.float64)), "values": one.tolist()}
            for one in self.training.evaluate(self.state)
        ]

    def _keep_best(self, means: Sequence[float]) -> None:
        if all(mean <= best for mean, best in zip(means, self.best, strict=True)):
            return
        for row, bare in enumerate(self.training.split(without_replay(self.state))):
            if means[row] > self.best[row]:
                self.best[row] = means[row]
                start = time.monotonic()
                save_best(self.folders[row], bare, mean_return=means[row])
                self.saving += time.monotonic() - start

    def _save(self) -> None:
        start = time.monotonic()
        for folder, state in zip(self.folders, self.training.split(self.state), strict=True):
            save(folder, state, seconds=self.seconds, keep=self.config.checkpoints.keep)
        self.saved_at = self.epoch
        cost = time.monotonic() - start
        self.saving += cost
        self.rest.begin(self.epoch, cost)

    def _stop_if_wished(self, wish: Wish) -> None:
        if wish.signum is None:
            return
        if self.saved_at != self.epoch or self.epoch == 0:
            self._save()
        raise Interrupted(
            wish.signum,
            f"stopped after epoch {self.epoch} of {self.config.epochs}; "
            f"`pairvdn resume {self.named}` goes on from there",
        )

    def _stop_if_diverged(self) -> None:
        """A single run that blew up has nothing left to learn; its last sound state is saved."""
        if len(self.folders) > 1 or not np.any(self.state.learned.divergence.happened):
            return
        if self.saved_at != self.epoch:
            self._save()
        (divergence,) = self.training.split(self.state.learned.divergence)
        raise_if_diverged(divergence)

    def _name_diverged(self) -> None:
        happened = self.training.split(self.state.learned.divergence.happened)
        for folder, diverged in zip(self.folders, happened, strict=True):
            if diverged:
                self.say(f"warning: {folder.path.name} diverged; see its metrics.jsonl")


def _best_return(lines: Sequence[dict[str, Any]]) -> float:
    means = (line["evaluation"]["mean"] for line in lines if "evaluation" in line)
    return max(means, default=-np.inf)


def _plain(metrics: Metrics) -> dict[str, Any]:
    """Metrics as Python numbers, exactly."""
    return {
        field.name: np.asarray(getattr(metrics, field.name)).item()
        for field in dataclasses.fields(metrics)
    }
