"""Figures: what is drawn is there, twice the same, and told apart without colour."""

from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

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
from pairvdn.viewing.style import COLOURS, look, short


def curve(label: str, height: float = 1.0) -> Curve:
    steps = np.array([100.0, 200.0, 300.0])
    mean = height * np.array([1.0, 2.0, 2.5])
    return Curve(label, steps, mean, mean - 0.2, mean + 0.2)


def test_every_panel_and_method_is_named(tmp_path: Path) -> None:
    panels = [
        Panel("task one", [curve("vdn"), curve("pairvdn", 2.0)], 0.7),
        Panel("task two", [curve("pairvdn")], None),
    ]
    png, svg = draw_curves(
        panels, tmp_path / "deep" / "curves", Labels(shaded="a band", note="NOT REAL")
    )
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    for word in ("task one", "task two", "vdn", "pairvdn", "random", "a band", "NOT REAL"):
        assert word in text


def test_a_method_has_one_colour_in_all_panels(tmp_path: Path) -> None:
    panels = [Panel("one", [curve("vdn"), curve("pairvdn")]), Panel("two", [curve("pairvdn")])]
    _, svg = draw_curves(panels, tmp_path / "curves", Labels())
    text = svg.read_text().lower()
    assert COLOURS[0].lower() in text
    assert COLOURS[1].lower() in text
    assert COLOURS[2].lower() not in text


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    panels = [Panel("one", [curve("vdn")], 1.0)]
    first, second = (draw_curves(panels, tmp_path / name, Labels()) for name in "ab")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("count", [1, 5])
def test_pictures_stand_side_by_side_under_their_titles(tmp_path: Path, count: int) -> None:
    pixels = np.full((20, 40, 3), 255, np.uint8)
    pictures = [Picture(f"title {number}", pixels) for number in range(count)]
    png, svg = draw_pictures(pictures, tmp_path / "pictures", columns=4, note="a note")
    assert png.read_bytes().startswith(b"\x89PNG")
    for number in range(count):
        assert f"title {number}" in svg.read_text()
    assert "a note" in svg.read_text()


def bar(label: str, mean: float = 2.0, seeds: int = 3) -> Bar:
    values = mean + np.linspace(-0.3, 0.3, seeds)
    return Bar(label, mean, mean - 0.2 if seeds > 1 else None, mean + 0.2, values)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_bars_name_every_task_and_method(tmp_path: Path, count: int) -> None:
    panels = [
        BarPanel(f"task {number}", [bar("vdn", -3.0), bar("pairvdn", 2.0, seeds=1)], 0.5)
        for number in range(count)
    ]
    first, second = (
        draw_bars(panels, tmp_path / name, footer="how to read it", note="NOT REAL")
        for name in "ab"
    )
    text = first[1].read_text()
    for word in ("vdn", "pairvdn", "how to read it", "NOT REAL", f"task {count - 1}"):
        assert word in text
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_the_legend_has_a_place_beside_any_number_of_panels(tmp_path: Path, count: int) -> None:
    panels = [Panel(f"task {number}", [curve("vdn")], 1.0) for number in range(count)]
    png, svg = draw_curves(panels, tmp_path / "curves", Labels(shaded="a band"))
    assert svg.read_text().count("random policy") == 1
    pixels = imageio.imread(png)
    edges = [pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]]
    assert all((edge[..., :3] == 255).all() for edge in edges)  # nothing is cut off


def test_a_random_policy_far_away_leaves_the_axis_to_the_methods(tmp_path: Path) -> None:
    panel = Panel("aloha", [curve("vdn"), curve("pairvdn", 2.0)], -734.867)
    drawn = {
        name: draw_curves([panel], tmp_path / name, labels)[1].read_text()
        for name, labels in {
            "far": Labels(title="Ten stations", x="updates", y="loss"),
            "wide": Labels(y_range=(-800.0, 10.0)),
        }.items()
    }
    for word in ("↓ random policy: −734.9", "Ten stations", "updates", "loss"):
        assert word in drawn["far"]
    assert "−700" not in drawn["far"]  # no tick reaches down there
    assert "↓" not in drawn["wide"]
    bars = [BarPanel("aloha", [bar("vdn"), bar("pairvdn", 3.0)], -734.867)]
    _, svg = draw_bars(bars, tmp_path / "bars", footer="")
    assert "← random policy: −734.9" in svg.read_text()


def test_formats_are_the_readers_choice(tmp_path: Path) -> None:
    panels = [Panel("one", [curve("vdn")])]
    for name in "ab":
        draw_curves(panels, tmp_path / name, Labels(), formats=("pdf",))
    first, second = sorted(tmp_path.iterdir())
    assert first.name == "a.pdf"
    assert first.read_bytes() == second.read_bytes()


def test_looks_differ_without_colour_too() -> None:
    looks = [look(place) for place in range(12)]
    assert len({(one.dash, one.marker) for one in looks}) == 12
    assert len({one.colour for one in looks[: len(COLOURS)]}) == len(COLOURS)


@pytest.mark.parametrize(
    ("steps", "text"),
    [(0, "0"), (950, "950"), (50_000, "50k"), (1e6, "1M"), (1.5e6, "1.5M"), (2e9, "2G")],
)
def test_numbers_of_steps_are_short(steps: float, text: str) -> None:
    assert short(float(steps)) == text
