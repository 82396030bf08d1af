"""Make the gallery: train what is missing, record episodes, draw, write the page.

    make gallery        # or: python docs/gallery/make.py

Runs are kept in runs/gallery and trained only once; everything else is made anew. Episodes are not
chosen by hand: of the first `EPISODES` of seed 0 it is the one with the median return.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from pairvdn.cli.progress import progress
from pairvdn.config import load_preset
from pairvdn.runs import train
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.analysis.record import RecordedRun, record_both, record_run
from pairvdn.runs.folder import read_config, read_metrics
from pairvdn.viewing.film import write_gif
from pairvdn.viewing.stage import Stage, shown_runs

HERE = Path(__file__).parent
RUNS = Path("runs/gallery")
EPISODES = 9


@dataclasses.dataclass(frozen=True)
class Trained:
    """A run of the gallery: a preset, how long, and with which flags."""

    name: str
    preset: str
    epochs: int
    flags: tuple[tuple[str, Any], ...] = ()

    @property
    def folder(self) -> Path:
        """Where it is."""
        return RUNS / self.name

    @property
    def command(self) -> str:
        """How to train it."""
        flags = "".join(f" --{path.replace('_', '-')} {value}" for path, value in self.flags)
        return f"pairvdn train {self.preset} --epochs {self.epochs}{flags} --out {self.folder}"


BOXES_VDN = Trained("box-jump-vdn", "box-jump/vdn", 56)
BOXES_SORTED = Trained("box-jump-pairvdn-sorted", "box-jump/pairvdn-sorted", 56)
SPREAD = Trained("simple-spread-pairvdn", "simple-spread/pairvdn", 30)
COOKING = Trained("cooking-coop-pairvdn", "cooking/pairvdn", 60, (("env.variant", "coop"),))
PREDATORS = Trained("predator-prey-pairvdn-nearest", "predator-prey/pairvdn-nearest", 40)


@dataclasses.dataclass(frozen=True)
class Exhibit:
    """One picture or film: of which runs, how long, and what there is to see."""

    file: str
    title: str
    runs: tuple[Trained, ...]
    text: str
    max_steps: int | None = None
    every: int | None = None
    width: int = 420


EXHIBITS = (
    Exhibit(
        "box-jump-tower.png",
        "A tower of pairvdn-sorted",
        (BOXES_SORTED,),
        "Sixteen boxes, without rotation, at the moment of the greatest height. Curves are the "
        "pairs of the ring, blue where they add to the value, orange where they take from it; a "
        "diamond marks agents who do something else than each would alone, to the team's gain. The "
        "red line is the best height so far.",
        max_steps=1000,
        width=800,
    ),
    Exhibit(
        "box-jump.gif",
        "VDN beside it",
        (BOXES_VDN, BOXES_SORTED),
        "The same start, `vdn` to the left and `pairvdn-sorted` to the right. Both were trained "
        "for the same number of steps, with one training seed: this shows two policies, and not "
        "which method is better.",
        every=10,
    ),
    Exhibit(
        "simple-spread.gif",
        "Spread",
        (SPREAD,),
        "Three agents (blue) head for three landmarks (black), each for one of its own, and brake "
        "there; after 25 steps two of the three are covered on average.",
        width=300,
    ),
    Exhibit(
        "cooking.gif",
        "Cooking",
        (COOKING,),
        "Two cooks in two rooms, the preset `coop`: one wants tomato and lettuce, the other carrot "
        "and banana, chopped, on a plate, on a green square. The carrot is in the wrong room and "
        "has to be handed over.",
        width=300,
    ),
    Exhibit(
        "predator-prey.gif",
        "Predator and prey",
        (PREDATORS,),
        "Two predators (red) must catch a prey (green) at once; one alone is punished. Each is "
        "paired with the predator that is nearest to it now.",
        max_steps=60,
        width=300,
    ),
)
HEAD = """# Gallery

Made by `make gallery` from real runs, each trained for a few minutes on two cores. Episodes were
not chosen by hand: of nine, from seed 0, each is the one with the median return (of the last method
that is named). These are single runs, and no comparison of methods; for that see
[the results](../results/README.md).
[Pictures](../pictures.md) tells how to make your own."""


def ensure_trained(run: Trained) -> None:
    """Train it, unless it is there."""
    config = load_preset(run.preset).replace({"epochs": run.epochs, **dict(run.flags)})
    if (run.folder / "config.toml").exists():
        if read_config(run.folder) != config:
            raise SystemExit(f"{run.folder} was trained with other settings; remove it.")
        return
    with progress(quiet=False) as (on_epoch, say):
        train(config, run.folder, on_epoch=on_epoch, say=say)


def record(exhibit: Exhibit) -> list[RecordedRun]:
    """The same episodes of every run."""
    settings = Settings(episodes=EPISODES, max_steps=exhibit.max_steps)
    folders = [run.folder for run in exhibit.runs]
    return record_both(*folders, settings) if len(folders) > 1 else [record_run(*folders, settings)]


def median_episode(recorded: Sequence[RecordedRun]) -> int:
    """The number of the episode in which the last run has its median return."""
    returns = [float(episode.returns[-1]) for episode in recorded[-1].recordings]
    return sorted(range(EPISODES), key=returns.__getitem__)[EPISODES // 2]


def draw(exhibit: Exhibit, recorded: Sequence[RecordedRun], episode: int) -> None:
    """Write the picture, of the greatest height, or the film."""
    path = HERE / exhibit.file
    stage = Stage(shown_runs(recorded, episode), width=exhibit.width)
    if path.suffix == ".png":
        heights = recorded[0].recordings[episode].frames.measures["best_height"]
        Image.fromarray(stage.picture(int(heights.argmax()))).save(path, optimize=True)
    else:
        pace = recorded[0].seconds_per_step
        write_gif(stage, path, seconds_per_step=pace, every=exhibit.every)


def lines(exhibit: Exhibit, recorded: Sequence[RecordedRun], episode: int) -> Iterator[str]:
    """The part of the page about one exhibit."""
    yield f"## {exhibit.title}\n\n![{exhibit.title}]({exhibit.file})\n\n{exhibit.text}\n"
    yield "| method | training | episode shown | greedy return, 20 episodes | random |"
    yield "|---|---|---|---|---|"
    for run, shown in zip(exhibit.runs, recorded, strict=True):
        yield f"| {' | '.join(cells(run, shown, episode))} |"
    yield "\n```bash long"
    yield from (run.command for run in exhibit.runs)
    yield f"{watch_command(exhibit)}\n```\n"


def cells(run: Trained, shown: RecordedRun, episode: int) -> Iterator[str]:
    """What was trained, what is shown, and how good it is on the whole."""
    played = shown.recordings[episode]
    steps = read_metrics(run.folder)[-1]["env_steps"]
    seed = read_config(run.folder).seed
    evaluated = evaluate(run.folder, Settings()).to_dict()
    score = evaluated["return"]
    yield f"`{shown.method}`"
    yield f"{steps:,} steps, seed {seed}"
    height = played.frames.measures.get("best_height")
    best = "" if height is None else f", best height {height[-1]:.2f}"
    yield f"number {episode + 1}: {played.length} steps, return {played.returns[-1]:.2f}{best}"
    yield (
        f"{score['mean']:.2f} [{score['low']:.2f}, {score['high']:.2f}] "
        f"in {evaluated['max_steps']} steps"
    )
    yield f"{evaluated['random']['mean']:.2f}"


def watch_command(exhibit: Exhibit) -> str:
    """How to see the same episode oneself."""
    first, *others = exhibit.runs
    against = "".join(f" --against {run.folder}" for run in others)
    steps = "" if exhibit.max_steps is None else f" --max-steps {exhibit.max_steps}"
    return f"pairvdn watch {first.folder}{against} --episodes {EPISODES}{steps}"


def main() -> None:
    """Make everything."""
    parts = [HEAD]
    for exhibit in EXHIBITS:
        for run in exhibit.runs:
            ensure_trained(run)
        recorded = record(exhibit)
        episode = median_episode(recorded)
        draw(exhibit, recorded, episode)
        parts.append("\n".join(lines(exhibit, recorded, episode)))
        print(exhibit.file)
    text = "\n\n".join(part.rstrip() for part in parts)
    note = "Brackets are 95 % bootstrap intervals over the episodes of one trained network."
    (HERE / "README.md").write_text(f"{text}\n\n{note}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
