"""Figures: what is drawn is there, twice the same, and told apart without colour."""

from pathlib import Path

import numpy as np
import pytest

from pairvdn.viewing.figures import COLOURS, Curve, Panel, Picture, draw_curves, draw_pictures


def curve(label: str, height: float = 1.0) -> Curve:
    steps = np.array([100.0, 200.0, 300.0])
    mean = height * np.array([1.0, 2.0, 2.5])
    return Curve(label, steps, mean, mean - 0.2, mean + 0.2)


def test_every_panel_and_method_is_named(tmp_path: Path) -> None:
    panels = [
        Panel("task one", [curve("vdn"), curve("pairvdn", 2.0)], 0.7),
        Panel("task two", [curve("pairvdn")], None),
    ]
    png, svg = draw_curves(panels, tmp_path / "deep" / "curves", shaded="a band", note="NOT REAL")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    for word in ("task one", "task two", "vdn", "pairvdn", "random", "a band", "NOT REAL"):
        assert word in text


def test_a_method_has_one_colour_in_all_panels(tmp_path: Path) -> None:
    panels = [Panel("one", [curve("vdn"), curve("pairvdn")]), Panel("two", [curve("pairvdn")])]
    _, svg = draw_curves(panels, tmp_path / "curves", shaded="")
    text = svg.read_text().lower()
    assert COLOURS[0].lower() in text
    assert COLOURS[1].lower() in text
    assert COLOURS[2].lower() not in text


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    panels = [Panel("one", [curve("vdn")], 1.0)]
    first, second = (draw_curves(panels, tmp_path / name, shaded="") for name in "ab")
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
