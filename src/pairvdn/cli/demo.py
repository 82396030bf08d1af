"""`pairvdn demo`: a tower of boxes in about two minutes."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from pairvdn.cli.flags import Parser, Whole
from pairvdn.cli.progress import frames_progress, progress
from pairvdn.cli.tables import interval, table
from pairvdn.config import load_preset
from pairvdn.evaluation import Played, play_greedy, play_random, summary
from pairvdn.runs import load, train
from pairvdn.runs.analysis.evaluate import Settings, env_for, moments
from pairvdn.runs.analysis.record import record_run
from pairvdn.runs.load import Loaded
from pairvdn.values import Value

PRESET = "box-jump/pairvdn-sorted"
EPOCHS = 110
LONG = 1000  # steps of an episode, as in the paper's long evaluation
ABOUT = f"""Train {PRESET} (16 boxes without rotation) for about two minutes, compare it with the
random policy and with a network that was never trained, and draw its learning curve and a film."""


def main(arguments: Sequence[str]) -> int:
    """Train, evaluate, draw."""
    parser = Parser("demo", ABOUT)
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="a new folder; default: runs/demo-NUMBER"
    )
    parser.add_argument(
        "--epochs", action=Whole, default=EPOCHS, help=f"length of training; default: {EPOCHS}"
    )
    parser.add_argument(
        "--episodes", action=Whole, default=20, help="episodes of an evaluation; default: 20"
    )
    given = parser.parse_all(arguments)
    # Imported before training, so that a missing package is reported at once.
    from pairvdn.viewing.curves import plot_runs
    from pairvdn.viewing.film import write_gif
    from pairvdn.viewing.stage import Stage, shown_runs

    out, epochs = given.out or _free_folder(), given.epochs
    config = load_preset(PRESET).replace(
        {"epochs": epochs, "evaluation.every": min(4, epochs), "evaluation.episodes": 20}
    )
    with progress(quiet=False) as (on_epoch, say):
        train(config, out, on_epoch=on_epoch, say=say)
    last, best = load(out), load(out, "best")
    print(_table(last, best, given.episodes))
    recorded = record_run(out, Settings(episodes=1, max_steps=LONG))
    with frames_progress("film") as on_frame:
        gif = write_gif(
            Stage(shown_runs([recorded])),
            out / "tower.gif",
            seconds_per_step=recorded.seconds_per_step,
            every=5,
            on_frame=on_frame,
        )
    print(f"\nrun             {out}\nlearning curve  {plot_runs([out], out / 'curve')[0]}")
    print(f"film            {gif}\nto see why      pairvdn watch {out}")
    return 0


def _table(last: Loaded, best: Loaded, episodes: int) -> str:
    """Best heights of all four policies; the networks play from the same starts."""
    env = env_for(last, LONG)
    when = moments(last.env.max_steps, LONG)
    untrained = last.config.make_value(last.env, key=jax.random.key(0))

    def play(value: Value[Any]) -> Played:
        return play_greedy(
            env,
            value,
            episodes=episodes,
            seed=0,
            action_repeat=last.action_repeat,
            moments=when,
        )

    rows = {
        "random": play_random(env, seed=0, moments=when),
        "untrained network": play(untrained),
        f"trained, last (epoch {last.epoch})": play(last.value),
        f"trained, best (epoch {best.epoch})": play(best.value),
    }
    cells = [
        [name, *(interval(summary(played.measures["best_height"][t]), 2) for t in when)]
        for name, played in rows.items()
    ]
    heads = ["best height in boxes", *(f"t={moment}" for moment in when)]
    return f"\n{table(heads, cells)}\n\nmean [95 % interval over episodes, one training seed]"


def _free_folder() -> Path:
    numbered = (Path("runs") / f"demo-{number}" for number in itertools.count(1))
    return next(folder for folder in numbered if not folder.exists())
