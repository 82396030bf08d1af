"""Figures of studies: from raw results, from runs, and of environments without training."""

from pathlib import Path
from typing import Any

import pytest
from small_runs import small_run

from pairvdn.config.errors import ConfigError
from pairvdn.studies import read_study, study_from
from pairvdn.studies.study import Study
from pairvdn.viewing.study_figures import draw_figure

NUMBER = {"mean": 5.0, "low": 4.0, "high": 6.0, "values": [4.0, 6.0]}
CURVE = {"steps": [1, 2], "mean": [4, 5], "low": [3, 4], "high": [5, 6]}
ROW = {"return": NUMBER, "random": {"return": {**NUMBER, "mean": -3.0}}, "curve": CURVE}


def study(**figures: Any) -> Study:
    rows = {name: {"preset": "climbing/vdn"} for name in ("left/a", "right/b", "other/c")}
    return study_from("many", {"rows": rows, "figures": figures})


def texts(files: list[Path]) -> str:
    assert [path.suffix for path in files] == [".png", ".svg"]
    return files[1].read_text(encoding="utf-8")


def test_bars_and_curves_have_a_panel_for_each_group(tmp_path: Path) -> None:
    many = study(
        bars={"kind": "bars", "path": "return", "label": "boxes", "groups": ["left", "right"]},
        curves={"kind": "curves", "labels": ["a", "c"]},
    )
    rows = {"left/a": ROW, "right/b": ROW, "other/c": ROW}
    bars, curves = (
        texts(draw_figure(many, name, rows, tmp_path, tmp_path, note="not real"))
        for name in many.figures
    )
    assert all(f">{word}<" in bars for word in ("left", "right", "a", "b", "boxes", "not real"))
    assert ">other<" not in bars
    assert all(f">{word}<" in curves for word in ("left", "other", "environment steps", "not real"))
    assert ">right<" not in curves


def test_the_aggregate_shows_methods_and_tasks(tmp_path: Path) -> None:
    known = {"source": "known", "values": {"climbing": 10, "wall": 10}}
    many = study_from(
        "many",
        {
            "tasks": ["climbing", "wall"],
            "methods": ["vdn", "pairvdn", "iql"],
            "references": {"nobody": {"source": "known", "values": {}}, "bound": known},
            "aggregate": {"zero": "nobody", "one": "bound", "versus": "vdn"},
            "figures": {"aggregate": {"kind": "aggregate"}},
        },
    )
    names = [f"{task}/{method}" for task in many.tasks for method in ("vdn", "pairvdn")]
    rows = {name: ROW | {"seeds": 2} for name in [*names, "wall/iql"]}
    shown = texts(draw_figure(many, "aggregate", rows, tmp_path, tmp_path, note="not real"))
    # (5 + 3) / (10 + 3), the mean of both seeds, in each of the five cells with results.
    assert shown.count(">0.62<") == 5
    assert all(f">{text}<" in shown for text in ("climbing", "pairvdn", "P(better than vdn)"))
    assert "because they lack a task: iql" in shown
    assert "not real" in shown


def test_episodes_of_trained_rows(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "a").symlink_to(small_run("boxes", tmp_path_factory))
    many = study(pictures={"kind": "episodes", "rows": ["left/a"], "steps": [4, 12]})
    shown = texts(draw_figure(many, "pictures", {}, tmp_path, tmp_path))
    assert all(f">a, seed 0, t = {step}<" in shown for step in (4, 12))


@pytest.mark.parametrize("name", ["observations", "environments"])
def test_the_papers_pictures_of_environments(name: str, tmp_path: Path) -> None:
    paper = read_study("paper-table")
    shown = texts(draw_figure(paper, name, {}, tmp_path, tmp_path))
    titles = {
        "observations": ("box to the left", "box above"),
        "environments": ("Box Jump", "Simple Spread", "CookingZoo"),
    }
    assert all(f">{title}<" in shown for title in titles[name])


def test_an_observation_that_does_not_exist(tmp_path: Path) -> None:
    envs = {"Boxes": {"name": "box-jump", "num_boxes": 2}}
    many = study(seen={"kind": "random-play", "envs": envs, "step": 2, "colour_by": ["smell"]})
    with pytest.raises(ConfigError, match="Boxes has no observation 'smell'"):
        draw_figure(many, "seen", {}, tmp_path, tmp_path)
