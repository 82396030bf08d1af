"""Draw the gallery from the runs of the study `gallery`, and write its page.

    make gallery        # pairvdn study run gallery, then this script

No episode is picked by hand: of the first `EPISODES` from seed 0, the one with the median return is
shown.
"""

import dataclasses
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image

from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.analysis.record import RecordedRun, record_both, record_run
from pairvdn.studies import ResultsFile, read_study, storage
from pairvdn.viewing.film import write_gif
from pairvdn.viewing.stage import Stage, shown_runs

HERE = Path(__file__).parent
RUNS = Path("runs/gallery")
EPISODES = 9


@dataclasses.dataclass(frozen=True)
class Exhibit:
    """One picture or film: its rows, its length, and its caption."""

    file: str
    title: str
    rows: tuple[str, ...]  # of the study `gallery`
    text: str
    max_steps: int | None = None
    every: int | None = None
    width: int = 420


EXHIBITS = (
    Exhibit(
        "box-jump-tower.png",
        "A tower of pairvdn-sorted",
        ("box-jump/pairvdn-sorted",),
        "Sixteen upright boxes at the greatest height of the episode. Curves are the pairs of the "
        "ring: blue pairs raise the value, orange pairs lower it. A diamond marks a pair that "
        "coordinates: one of its agents departs from the additive baseline, and the team gains. "
        "The red line is the best height so far.",
        max_steps=1000,
        width=800,
    ),
    Exhibit(
        "box-jump.gif",
        "VDN and pairvdn-sorted",
        ("box-jump/vdn", "box-jump/pairvdn-sorted"),
        "The same start, `vdn` on the left and `pairvdn-sorted` on the right. Both were trained "
        "for the same number of steps with one seed: this shows two policies, not which method is "
        "better.",
        every=10,
    ),
    Exhibit(
        "simple-spread.gif",
        "Simple Spread",
        ("simple-spread/pairvdn",),
        "Each of three agents (blue) moves to its own landmark (black) and brakes there. After 25 "
        "steps they cover two of the three landmarks on average.",
        width=300,
    ),
    Exhibit(
        "cooking.gif",
        "Cooking",
        ("cooking-coop/pairvdn",),
        "Two cooks in two rooms, the variant `coop`: one wants tomato and lettuce, the other "
        "carrot and banana, chopped, on a plate, on a green square. The carrot is in the wrong "
        "room and must be handed over.",
        width=300,
    ),
    Exhibit(
        "predator-prey.gif",
        "Predator-prey",
        ("predator-prey/pairvdn-nearest",),
        "Two predators (red) must catch a prey (green) in the same step; a lone attempt is "
        "punished. Each predator is paired with the nearest one in each step.",
        max_steps=60,
        width=300,
    ),
)
HEAD = """# Gallery

`make gallery` draws these pictures and films from the runs of the study `gallery`; each run trains
for a few minutes on two cores. No episode is picked by hand: of nine episodes from seed 0, the page
shows the one with the median return, for two methods that of the second. Each method has one
training seed here; the [results](../results/README.md) compare methods over several.
[Pictures](../pictures.md) describes how to make your own."""


def folder_of(row: str) -> Path:
    """The one run of a row."""
    return RUNS / row / "seed-0"


def record(exhibit: Exhibit) -> list[RecordedRun]:
    """The same episodes of every run."""
    settings = Settings(episodes=EPISODES, max_steps=exhibit.max_steps)
    folders = [folder_of(row) for row in exhibit.rows]
    return record_both(*folders, settings) if len(folders) > 1 else [record_run(*folders, settings)]


def median_episode(recorded: Sequence[RecordedRun]) -> int:
    """The index of the episode with the median return of the last run."""
    returns = [float(episode.returns[-1]) for episode in recorded[-1].recordings]
    return sorted(range(EPISODES), key=returns.__getitem__)[EPISODES // 2]


def draw(exhibit: Exhibit, recorded: Sequence[RecordedRun], episode: int) -> None:
    """Write the film, or a picture of the greatest height."""
    path = HERE / exhibit.file
    stage = Stage(shown_runs(recorded, episode), width=exhibit.width)
    if path.suffix == ".png":
        heights = recorded[0].recordings[episode].frames.measures["best_height"]
        Image.fromarray(stage.picture(int(heights.argmax()))).save(path, optimize=True)
    else:
        pace = recorded[0].seconds_per_step
        write_gif(stage, path, seconds_per_step=pace, every=exhibit.every)


def lines(exhibit: Exhibit, recorded: Sequence[RecordedRun], episode: int) -> Iterator[str]:
    """The section of the page about one exhibit."""
    yield f"## {exhibit.title}\n\n![{exhibit.title}]({exhibit.file})\n"
    yield f"{textwrap.fill(exhibit.text, 100)}\n"
    yield "| method | training | episode shown | greedy return, 20 episodes | random |"
    yield "|---|---|---|---|---|"
    for row, shown in zip(exhibit.rows, recorded, strict=True):
        yield f"| {' | '.join(cells(row, shown, episode))} |"
    yield f"\n```bash long\npairvdn study run gallery --only {' '.join(exhibit.rows)}"
    yield f"{watch_command(exhibit)}\n```\n"


def cells(row: str, shown: RecordedRun, episode: int) -> Iterator[str]:
    """The cells of one line: training, the episode shown, and the mean over all episodes."""
    played = shown.recordings[episode]
    numbers = ResultsFile(storage(str(RUNS)), "results.json").rows()[row]
    (seed,) = read_study("gallery").rows[row].seeds
    yield f"`{shown.method}`"
    yield f"{numbers['cost']['env_steps']:,} steps, seed {seed}"
    height = played.frames.measures.get("best_height")
    best = "" if height is None else f", best height {height[-1]:.2f}"
    yield f"number {episode + 1}: {played.length} steps, return {played.returns[-1]:.2f}{best}"
    score, steps = numbers["return"], max(map(int, numbers["measures"]["return"]))
    yield f"{score['mean']:.2f} [{score['low']:.2f}, {score['high']:.2f}] in {steps} steps"
    yield f"{numbers['random']['return']['mean']:.2f}"


def watch_command(exhibit: Exhibit) -> str:
    """The command that shows the same episode."""
    first, *others = map(folder_of, exhibit.rows)
    against = "".join(f" --against {run}" for run in others)
    steps = "" if exhibit.max_steps is None else f" --max-steps {exhibit.max_steps}"
    return f"pairvdn watch {first}{against} --episodes {EPISODES}{steps}"


def main() -> None:
    """Draw every exhibit and write the page."""
    parts = [HEAD]
    for exhibit in EXHIBITS:
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
