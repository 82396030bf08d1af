"""Figures of a study: bars, curves and the aggregate of its results, pictures of its runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from pairvdn import envs
from pairvdn.config.errors import ConfigError
from pairvdn.envs import HasNames
from pairvdn.envs.scene import Rectangles, Scene
from pairvdn.evaluation import record_greedy, record_random
from pairvdn.runs.analysis.curves import OVER_SEEDS
from pairvdn.runs.analysis.evaluate import env_for
from pairvdn.runs.folder import run_folders
from pairvdn.runs.load import load
from pairvdn.studies.standings import aggregate
from pairvdn.studies.study import Bars, Curves, Episodes, Figure, Overview, RandomPlay, Study
from pairvdn.studies.tables import Rows, at
from pairvdn.viewing.aggregate_figure import draw_aggregate
from pairvdn.viewing.figures import (
    Bar,
    BarPanel,
    Curve,
    Labels,
    Panel,
    Picture,
    draw_bars,
    draw_curves,
    draw_pictures,
)
from pairvdn.viewing.raster import draw

HEIGHT = 300  # pixels of one picture
_BARS_FOOTER = (
    "mean and 95 % bootstrap interval over training seeds; dots: seeds; dashes: random policy"
)


def draw_figure(
    study: Study, name: str, rows: Rows, runs: Path, out: Path, *, note: str = ""
) -> list[Path]:
    """Draw a figure into `out`/STUDY-NAME.png and .svg; the study's runs are in `runs`."""
    figure, stem = study.figures[name], out / f"{study.name}-{name}"
    return _DRAWERS[type(figure)](figure, _Source(study, rows, runs, stem, note))


class _Source(NamedTuple):
    """The study, its results and runs, the files to write, and a note on top."""

    study: Study
    rows: Rows
    runs: Path
    stem: Path
    note: str


def _bars(figure: Bars, source: _Source) -> list[Path]:
    panels = [
        BarPanel(
            title=group or source.study.name,
            bars=[_bar(_label(row), at(source.rows[row], figure.path)) for row in members],
            random=at(source.rows[members[0]]["random"], figure.path)["mean"],
        )
        for group, members in _grouped(source.rows, figure.groups).items()
    ]
    return draw_bars(
        panels, source.stem, footer=_BARS_FOOTER, note=source.note, measured=figure.label
    )


def _curves(figure: Curves, source: _Source) -> list[Path]:
    known = {
        name: row
        for name, row in source.rows.items()
        if "curve" in row and _label(name) in (figure.labels or [_label(name)])
    }
    panels = [
        Panel(
            group or source.study.name,
            [_curve(_label(row), known[row]["curve"]) for row in members],
            random=at(known[members[0]]["random"], figure.random)["mean"],
        )
        for group, members in _grouped(known, figure.groups).items()
    ]
    return draw_curves(panels, source.stem, Labels(shaded=OVER_SEEDS, note=source.note))


def _episodes(figure: Episodes, source: _Source) -> list[Path]:
    """Each episode starts from its own seed, so the columns of two rows can be compared."""
    scenes: dict[str, Scene] = {}
    for row in figure.rows:
        for seed, run in enumerate(run_folders(source.runs / row)[: figure.seeds]):
            loaded = load(run, trust=True)  # the user chose the study
            (played,) = record_greedy(
                env_for(loaded, max(figure.steps)),
                loaded.value,
                seed=seed,
                action_repeat=loaded.action_repeat,
            )
            for step in figure.steps:
                scene = played.scene(min(step, played.length))
                scenes[f"{_label(row)}, seed {seed}, t = {step}"] = scene
    top = _top(list(scenes.values()))
    pictures = [Picture(title, _pixels(scene, top)) for title, scene in scenes.items()]
    return draw_pictures(pictures, source.stem, columns=len(figure.steps), note=source.note)


def _random_play(figure: RandomPlay, source: _Source) -> list[Path]:
    pictures: list[Picture] = []
    for title, given in figure.envs.items():
        arguments = dict(given)
        env = envs.make(arguments.pop("name"), **arguments)
        (played,) = record_random(env, seed=0)
        step = min(figure.step, played.length)
        scene, seen = played.scene(step), np.asarray(played.frames.observation[step])
        if not figure.colour_by:
            pictures.append(Picture(title, _pixels(scene)))
        for observed in figure.colour_by:
            if not isinstance(env, HasNames) or observed not in env.observation_names:
                raise ConfigError(f"{source.stem.name}: {title} has no observation {observed!r}.")
            column = seen[:, env.observation_names.index(observed)]
            pictures.append(Picture(observed, _pixels(_coloured(scene, column), _top([scene]))))
    footer = "red: 0, black: 1; random policy" if figure.colour_by else ""
    return draw_pictures(pictures, source.stem, columns=len(pictures), footer=footer)


def _overview(figure: Overview, source: _Source) -> list[Path]:
    del figure
    return draw_aggregate(aggregate(source.study, source.rows), source.stem, note=source.note)


_DRAWERS: dict[type[Figure], Callable[..., list[Path]]] = {
    Bars: _bars,
    Curves: _curves,
    Episodes: _episodes,
    RandomPlay: _random_play,
    Overview: _overview,
}


def _grouped(rows: Rows, groups: Sequence[str]) -> dict[str, list[str]]:
    """The rows of each group, in the order of `groups` if it names any."""
    members: dict[str, list[str]] = {}
    for name in rows:
        members.setdefault(name.rpartition("/")[0], []).append(name)
    return {group: members[group] for group in groups or members if group in members}


def _label(row: str) -> str:
    return row.rpartition("/")[2]


def _bar(label: str, number: Mapping[str, Any]) -> Bar:
    values = np.array(number["values"], np.float64)
    return Bar(label, number["mean"], number["low"], number["high"], values)


def _curve(label: str, curve: Mapping[str, list[Any]]) -> Curve:
    names = ("steps", "mean", "low", "high")
    return Curve(label, *(np.array(curve[name], np.float64) for name in names))


def _pixels(scene: Scene, top: float | None = None) -> Any:
    """The scene in its own proportions, no higher than `top`."""
    left, bottom, right, highest = map(float, scene.bounds)
    bounds = jnp.array([left, bottom, right, highest if top is None else min(top, highest)])
    width = round(HEIGHT * float((bounds[2] - bounds[0]) / (bounds[3] - bounds[1])))
    scene = eqx.tree_at(lambda one: one.bounds, scene, bounds)
    return draw(scene, height=HEIGHT, width=width)


def _top(scenes: Sequence[Scene]) -> float | None:
    """A little above the highest rectangle or line of any scene; None if there are none."""
    heights = [np.max(scene.rectangles.centre[:, 1]) for scene in scenes if scene.rectangles]
    heights += [np.max(scene.lines.end[:, 1]) for scene in scenes if scene.lines]
    return float(max(heights)) + 1.0 if heights else None


def _coloured(scene: Scene, values: np.ndarray) -> Scene:
    """The scene with agents from red, at 0, to black, at 1."""
    shapes = cast(Rectangles, scene.rectangles)
    red = 1.0 - np.clip(values, 0.0, 1.0)
    agent = np.asarray(shapes.agent)
    colour = np.array(shapes.colour)
    colour[agent >= 0] = np.stack([red, 0 * red, 0 * red], axis=1)[agent[agent >= 0]]
    recoloured: Scene = eqx.tree_at(
        lambda one: one.rectangles.colour, scene, jnp.asarray(colour, jnp.float32)
    )
    return recoloured
