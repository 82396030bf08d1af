"""The paper's figures, drawn anew from runs that are trained on demand.

Every function returns the files that it wrote and what it has to say besides.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pairvdn import envs
from pairvdn.envs.scene import Rectangles, Scene
from pairvdn.evaluation import record_greedy, record_random
from pairvdn.runs.analysis.curves import final_returns, learning_curve, shading
from pairvdn.runs.analysis.evaluate import Settings, env_for, evaluate
from pairvdn.runs.checkpoint import write_text
from pairvdn.runs.epochs import Report
from pairvdn.runs.folder import run_folders
from pairvdn.runs.load import load
from pairvdn.studies.reproduce import TASKS, Scale, available, ensure_trained
from pairvdn.viewing.curves import panel, plot_finals, random_return
from pairvdn.viewing.figures import Picture, draw_curves, draw_pictures
from pairvdn.viewing.raster import draw

OnEpoch = Callable[[Report], None]
Say = Callable[[str], None]
GROUPING_TASK = "box-jump-16-no-rotation"
GROUPING_METHODS = ("vdn", "pairvdn")
GROUPING_MEASURE = "nearest_neighbour"
GROUPING_SEEDS = 2
HEIGHT = 300  # pixels of one picture
# Where an agent of Box Jump finds its distances in its observation.
DISTANCES = {"left": 6, "above": 8}


class Made(NamedTuple):
    """Files that were written, and a text for the reader."""

    files: list[Path]
    text: str


def curves(out: Path, scale: Scale, *, on_epoch: OnEpoch, say: Say) -> Made:
    """The five panels of learning curves, as far as this version has their environments."""
    panels, finals, every, missing = [], {}, [], []
    for task, what in TASKS.items():
        methods = [method for method in scale.methods if available(task, method)]
        if not methods:
            missing.append(what.title)
            continue
        trained = {
            m: ensure_trained(out, task, m, scale, on_epoch=on_epoch, say=say) for m in methods
        }
        drawn = {method: learning_curve([folder]) for method, folder in trained.items()}
        random = random_return(load(run_folders(trained[methods[0]])[0]).env)
        panels.append(panel(what.title, drawn, random))
        ends = {method: final_returns([folder]) for method, folder in trained.items()}
        finals[what.title] = (ends, random)
        every += list(drawn.values())
    files = draw_curves(panels, out / "curves", shaded=shading(every), note=scale.note)
    files += plot_finals(finals, out / "curves-bars", note=scale.note)
    return Made(files, f"Not in this version: {'; '.join(missing)}." if missing else "")


def grouping(out: Path, scale: Scale, *, on_epoch: OnEpoch, say: Say) -> Made:
    """VDN and PairVDN at the end of an episode as long as in training and of a long one."""
    scenes: dict[str, Scene] = {}
    numbers: dict[str, Any] = {}
    for method in GROUPING_METHODS:
        folder = ensure_trained(out, GROUPING_TASK, method, scale, on_epoch=on_epoch, say=say)
        evaluated = evaluate(folder, Settings(scale.episodes, scale.long_steps)).to_dict()
        numbers.setdefault("random", evaluated["extra"]["random"]["measures"][GROUPING_MEASURE])
        numbers[method] = evaluated["extra"]["measures"][GROUPING_MEASURE]
        for seed, run in enumerate(run_folders(folder)[:GROUPING_SEEDS]):
            loaded = load(run)
            (played,) = record_greedy(
                env_for(loaded, scale.long_steps),
                loaded.value,
                seed=seed,
                action_repeat=loaded.action_repeat,
            )
            for step in (loaded.env.max_steps, scale.long_steps):
                scene = played.scene(min(step, played.length))
                scenes[f"{method}, seed {seed}, t = {step}"] = scene
    top = _top(list(scenes.values()))
    pictures = [Picture(title, _pixels(scene, top)) for title, scene in scenes.items()]
    files = draw_pictures(pictures, out / "grouping", columns=2, note=scale.note)
    write_text(out / "grouping.json", json.dumps({"note": scale.note, **numbers}, indent=2) + "\n")
    return Made([*files, out / "grouping.json"], _grouping_text(numbers))


def observations(out: Path, *, num_boxes: int = 16, steps: int = 400) -> Made:
    """Boxes coloured by a distance that they observe: red is 0, black is 1 (appendix B)."""
    env = envs.make("box-jump", num_boxes=num_boxes, fixed_rotation=True, max_steps=steps)
    (played,) = record_random(env, seed=0)
    scene, seen = played.scene(steps), played.frames.observation[steps]
    top = _top([scene])
    pictures = [
        Picture(f"'{name}' distance", _pixels(_coloured(scene, np.asarray(seen[:, column])), top))
        for name, column in DISTANCES.items()
    ]
    files = draw_pictures(
        pictures, out / "observations", columns=2, footer="red: 0, black: 1; random policy"
    )
    return Made(files, "")


def environments(out: Path, *, steps: int = 100) -> Made:
    """A picture of each environment of the paper's figure 1 that this version has."""
    titles = {"box-jump": "Box Jump", "simple-spread": "Simple Spread", "cooking": "CookingZoo"}
    there = [name for name in titles if name in envs.names()]
    pictures = []
    for name in there:
        (played,) = record_random(envs.make(name), seed=0)
        moment = min(steps, played.length)
        pictures.append(Picture(titles[name], _pixels(played.scene(moment))))
    files = draw_pictures(pictures, out / "environments", columns=len(pictures))
    missing = [titles[name] for name in titles if name not in there]
    return Made(files, f"Not in this version: {'; '.join(missing)}." if missing else "")


def _pixels(scene: Scene, top: float | None = None) -> Any:
    """The scene, drawn at its own proportions, and no higher than `top`."""
    left, bottom, right, highest = map(float, scene.bounds)
    bounds = jnp.array([left, bottom, right, highest if top is None else min(top, highest)])
    width = round(HEIGHT * float((bounds[2] - bounds[0]) / (bounds[3] - bounds[1])))
    scene = eqx.tree_at(lambda one: one.bounds, scene, bounds)
    return draw(scene, height=HEIGHT, width=width)


def _top(scenes: Sequence[Scene]) -> float:
    """A little above the highest box, and the line of the best height, of any of these scenes."""
    boxes = [np.max(one.rectangles.centre[:, 1]) for one in scenes if one.rectangles is not None]
    lines = [np.max(one.lines.end[:, 1]) for one in scenes if one.lines is not None]
    return float(max(boxes + lines)) + 1.0


def _coloured(scene: Scene, distances: np.ndarray) -> Scene:
    """The scene with agents from red, at distance 0, to black, at distance 1."""
    shapes = cast(Rectangles, scene.rectangles)  # Box Jump is made of nothing else
    red = 1.0 - np.clip(distances, 0.0, 1.0)
    agent = np.asarray(shapes.agent)
    colour = np.array(shapes.colour)
    colour[agent >= 0] = np.stack([red, 0 * red, 0 * red], axis=1)[agent[agent >= 0]]
    recoloured: Scene = eqx.tree_at(
        lambda one: one.rectangles.colour, scene, jnp.asarray(colour, jnp.float32)
    )
    return recoloured


def _grouping_text(numbers: dict[str, Any]) -> str:
    """How close the boxes stay, as a Markdown table."""
    moments = list(numbers["random"])
    heads = " | ".join(f"t={moment}" for moment in moments)
    lines = [
        "Mean distance to the nearest neighbour, in boxes [95 % bootstrap interval]:",
        "",
        f"| | {heads} |",
        "|---" * (len(moments) + 1) + "|",
    ]
    for method, by_moment in numbers.items():
        cells = [_cell(by_moment[moment]) for moment in moments]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(one: dict[str, Any]) -> str:
    interval = "" if one["low"] is None else f" [{one['low']:.2f}, {one['high']:.2f}]"
    return f"{one['mean']:.2f}{interval}"
