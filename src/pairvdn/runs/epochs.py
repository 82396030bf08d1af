"""The loop over epochs: train, evaluate, log, save; stop on request."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pairvdn.config.config import Config
from pairvdn.config.errors import one_line
from pairvdn.learning import LearnerState, Metrics, raise_if_diverged
from pairvdn.runs import checkpoint
from pairvdn.runs.errors import Interrupted, RunError
from pairvdn.runs.folder import RunFolder
from pairvdn.runs.loggers import Log
from pairvdn.runs.memory import state_shape
from pairvdn.runs.metrics import CLOCK, evaluations, read_metrics
from pairvdn.runs.origin import origin_of
from pairvdn.runs.refill import refill, rows_after
from pairvdn.runs.saving import Rest, newest_sound, save, save_best, without_replay
from pairvdn.runs.signals import StopRequest, stop_requested
from pairvdn.runs.training import Training

_NOT_EXACT = (
    "warning: environments on the host cannot be saved: their episodes restart, so the resumed run "
    "differs from an uninterrupted one"
)


@dataclasses.dataclass(frozen=True)
class Run:
    """A training, a folder for each of its seeds, and the folder that the user named.

    `acting` makes the same training without updates, to refill the replay of a finished run.
    """

    config: Config
    folders: Sequence[RunFolder]
    training: Training
    acting: Callable[[], Training]
    named: Path


@dataclasses.dataclass(frozen=True)
class Report:
    """The metrics of one epoch, a line for each seed, and the estimated time to the end."""

    epoch: int  # completed epochs
    epochs: int
    lines: Sequence[dict[str, Any]]
    seconds_left: float


def run_epochs(
    run: Run,
    *,
    on_epoch: Callable[[Report], None],
    say: Callable[[str], None],
    loggers: Sequence[Log],
) -> None:
    """Train from the newest checkpoint, or from the start, to the end."""
    try:
        with stop_requested() as request:
            _Loop(run, say).run(on_epoch, loggers, request)
    except jax.errors.JaxRuntimeError as error:
        if run.training.group.size == 1:
            raise
        raise RunError(
            f"Another process of this run has ended ({one_line(error)}); resume in all processes: "
            f"`pairvdn resume {run.named}`."
        ) from error


class _Loop:
    """The loop and its state."""

    def __init__(self, run: Run, say: Callable[[str], None]) -> None:
        self.config, self.folders, self.training = run.config, run.folders, run.training
        self.acting, self.named, self.say = run.acting, run.named, say
        self.group = self.training.group
        newest = self.group.all_or_none(
            lambda: newest_sound(self.folders, state_shape(self.training.learner), say)
        )
        stores = self.training.learner.replay_capacity is not None
        self.has_replay = newest is None or newest.has_replay or not stores
        self.epoch = self.saved_at = 0 if newest is None else int(newest.states[0].epoch)
        self._require_same_start(-1 if newest is None else self.epoch)
        if newest is None:
            say("compiling the start ...")
            self.state, self.seconds = self.training.init(), 0.0
        else:
            self.state, self.seconds = self.training.join(newest.states), newest.seconds
            self._warn_if_not_exact(newest.devices)
        self.group.all_or_none(self._discard_later_epochs)
        best = [self._best_return(folder) for folder in self.folders]
        self.best: list[float] = self.group.first(np.array(best)).tolist()
        self.rest = Rest(self.config.checkpoints, self.epoch)
        self.saving = 0.0  # seconds

    def _require_same_start(self, epoch: int) -> None:
        """Raise `RunError` if processes start from different epochs: they would hang."""
        if self.group.largest(epoch) != -self.group.largest(-epoch):
            raise RunError(
                f"The processes of this run see different checkpoints in {self.named}: use a "
                "folder on a shared file system."
            )

    def _warn_if_not_exact(self, devices: str | None) -> None:
        if not self.training.exact:
            self.say(_NOT_EXACT)
        if devices not in (None, self.training.devices):
            self.say(
                f"warning: trained on {devices} and resumed on {self.training.devices}: the "
                "results are the same in distribution, not in bits"
            )

    def _discard_later_epochs(self) -> None:
        if self.group.leads:
            for folder in self.folders:
                folder.cut(self.epoch)
                folder.forget_after(self.epoch)

    def run(
        self, on_epoch: Callable[[Report], None], loggers: Sequence[Log], request: StopRequest
    ) -> None:
        """Train the remaining epochs."""
        self._stop_if_diverged()
        if self.epoch:
            self.say(f"resuming after epoch {self.epoch} of {self.config.epochs}")
        if maximiser := self.training.learner.updater.maximiser:
            self.say(f"best joint actions by {maximiser}")
        if not self.has_replay and self.epoch < self.config.epochs:
            self._refill()
        self.say("compiling an epoch ...")
        self.training.compile(self.state)
        began, first = time.monotonic(), self.epoch
        while self.epoch < self.config.epochs:
            self._stop_if_requested(self.group.largest(request.signum or 0))
            lines = self._epoch()
            for seed, line in zip(self.training.seeds, lines, strict=True):
                for log in loggers:
                    log(seed, line)
            ended = self.epoch == self.config.epochs or self._has_diverged()
            if self.group.largest(ended or self.rest.is_over(self.epoch)):
                self._save(ended=ended)
            pace = (time.monotonic() - began) / (self.epoch - first)
            left = pace * (self.config.epochs - self.epoch)
            on_epoch(Report(self.epoch, self.config.epochs, lines, left))
            self._stop_if_diverged()
        self._name_diverged()
        if self.epoch > first:
            took = time.monotonic() - began
            self.say(f"trained for {took:.0f} s, {self.saving / took:.1%} of it for saving")

    def _refill(self) -> None:
        rows = rows_after(self.training.learner, self.epoch)
        self.say(
            f"warning: this run had finished and did not keep its replay: refilling it with {rows} "
            "rows by acting, so the result is not bit for bit that of a longer run"
        )
        self.state = refill(self.acting(), self.state, rows)
        self.has_replay = True

    def _epoch(self) -> list[dict[str, Any]]:
        """Train, evaluate, and append the metrics."""
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
            if self.group.leads:
                self.folders[row].append(line | {CLOCK: clock})
            lines.append(line | {CLOCK: clock})
        if returns is not None:
            self._keep_best([one["mean"] for one in returns])
        return lines

    def _counts(self) -> np.ndarray:
        """Environment steps and updates so far, of all seeds."""
        counts = self.training.split((self.state.env_steps, self.state.learned.updates))
        total: np.ndarray = np.array(counts, np.int64).sum(axis=0)
        return total

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
        for row, value in enumerate(self.training.split(self.state.learned.value)):
            if means[row] > self.best[row]:
                self.best[row] = means[row]
                start = time.monotonic()
                if self.group.leads:
                    facts = {"epoch": self.epoch, "return": means[row]}
                    save_best(self.folders[row], value, facts | self._origin(row))
                self.saving += time.monotonic() - start

    def _origin(self, row: int) -> dict[str, Any]:
        return origin_of(self.config, self.training.seeds[row])

    def _save(self, *, ended: bool = False) -> None:
        """Save all runs; when they have ended, without the replays, which only training needs."""
        start = time.monotonic()
        bare = ended and not self.config.checkpoints.keep_replay
        states = self.training.split(without_replay(self.state) if bare else self.state)
        self.group.all_or_none(lambda: self._write(states, bare=bare))
        self.saved_at = self.epoch
        cost = time.monotonic() - start
        self.saving += cost
        self.rest.begin(self.epoch, cost)

    def _write(self, states: Sequence[LearnerState], *, bare: bool) -> None:
        if not self.group.leads:
            return
        for folder in self.folders:  # make room, so that there are never more than two replays
            folder.drop_replays(1)
        facts = {"seconds": self.seconds, "place": self.training.devices}
        for row, (folder, state) in enumerate(zip(self.folders, states, strict=True)):
            save(folder, state, facts | self._origin(row))
        for folder in self.folders:  # after all are saved: seeds resume from a common epoch
            folder.prune(self.config.checkpoints.keep)
            if bare:
                folder.drop_replays(0)

    def _stop_if_requested(self, signum: int) -> None:
        if not signum:
            return
        if self.saved_at != self.epoch or self.epoch == 0:
            self._save()
        raise Interrupted(
            signum,
            f"stopped after epoch {self.epoch} of {self.config.epochs}; "
            f"resume with `pairvdn resume {self.named}`",
        )

    def _stop_if_diverged(self) -> None:
        """Raise `Diverged` if a single run diverged; its last finite state is saved."""
        if len(self.folders) == 1:
            raise_if_diverged(self.training.split(self.state.learned.divergence)[0])

    def _has_diverged(self) -> bool:
        """Whether a single run diverged; of several seeds, the others go on."""
        happened = self.training.split(self.state.learned.divergence.happened)
        return len(happened) == 1 and bool(happened[0])

    def _best_return(self, folder: RunFolder) -> float:
        """The best return so far; a best checkpoint of a discarded epoch does not count."""
        best = folder.best()
        if best.exists():
            try:
                checkpoint.verify(best)
            except checkpoint.DamagedError as error:
                aside = folder.put_aside(best).name if self.group.leads else "aside-best"
                self.say(
                    f"warning: the best checkpoint of {folder.path} is damaged ({error}): it is "
                    f"now {aside}, and the best one of the coming evaluations replaces it"
                )
        if not folder.has_best(self.epoch):
            return -np.inf
        means = [line["evaluation"]["mean"] for line in evaluations(read_metrics(folder.path))]
        return float(np.nanmax([-np.inf, *means]))

    def _name_diverged(self) -> None:
        happened = self.training.split(self.state.learned.divergence.happened)
        for folder, diverged in zip(self.folders, happened, strict=True):
            if diverged:
                self.say(f"warning: {folder.path.name} diverged; see its metrics.jsonl")


def _plain(metrics: Metrics) -> dict[str, Any]:
    """Metrics as Python numbers, exactly; those that a method lacks are left out."""
    numbers = {field.name: getattr(metrics, field.name) for field in dataclasses.fields(metrics)}
    return {name: np.asarray(one).item() for name, one in numbers.items() if one is not None}
