"""The page as a file: what is in it, how large it is, that nothing in it can become a script."""

import base64
import json
import re
import zlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from watch_pages import HOSTILE, pages, untrained_run

from pairvdn.viewing.watch import make_page
from pairvdn.viewing.watch.pack import pack
from pairvdn.viewing.watch.page import SCRIPTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages(tmp_path_factory)


def unpacked(directory: dict, text: str, name: str) -> np.ndarray:
    """What the page's script does, in Python."""
    entry = directory[name]
    rows = 1 if entry["still"] else entry["shape"][0]
    count = rows * int(np.prod(entry["shape"][1:]))
    blob = zlib.decompress(base64.b64decode(text))[entry["at"] : entry["at"] + 4 * count]
    planes = np.frombuffer(blob, np.uint8).reshape(4, count)
    differences = np.ascontiguousarray(planes.T).view("<i4").reshape(rows, -1).astype(np.int64)
    whole = np.cumsum(differences, axis=0).astype(np.uint32).view(np.int32)
    every = np.broadcast_to(whole, (entry["shape"][0], whole.shape[1]))
    return every.reshape(entry["shape"]) / 10.0 ** entry["decimals"]


def test_packed_numbers_are_the_recorded_ones_to_their_decimals() -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "walk": rng.normal(size=(50, 3, 2)).cumsum(axis=0).astype(np.float32),
        "small": (1e-3 * rng.normal(size=(50, 4))).astype(np.float32),
        "large": (1e6 * rng.normal(size=(50, 1))).astype(np.float32),
        "still": np.broadcast_to(np.float32([[0.25, 0.5]]), (50, 2)),
        "whole": rng.integers(-1, 9, size=(50, 5)).astype(np.int32),
        "flags": rng.random(size=(50, 5)) < 0.5,
        "one": np.ones((1, 2), np.float32),
    }
    packed = pack(arrays)
    for name, array in arrays.items():
        decimals = packed.directory[name]["decimals"]
        again = unpacked(packed.directory, packed.text, name)
        assert np.abs(again - array).max() <= 0.5001 * 10.0**-decimals
    decimals = {name: entry["decimals"] for name, entry in packed.directory.items()}
    assert decimals["small"] == 6
    assert decimals["large"] == decimals["whole"] == decimals["flags"] == decimals["one"] == 0
    assert packed.directory["still"]["still"]
    assert pack(arrays) == packed


def test_what_is_no_number_has_a_sign_of_its_own() -> None:
    array = np.array([[np.nan], [np.inf], [-np.inf], [1.5]], np.float32)
    packed = pack({"odd": array})
    scale = 10.0 ** packed.directory["odd"]["decimals"]
    whole = (unpacked(packed.directory, packed.text, "odd") * scale).ravel()
    assert whole.tolist() == [-(2**31), 2**31 - 1, 1 - 2**31, 1.5 * scale]


def test_the_same_recording_gives_the_same_page(folder: Path) -> None:
    assert (folder / "one.html").read_bytes() == (folder / "again.html").read_bytes()


def test_names_cannot_leave_the_data(folder: Path) -> None:
    page = (folder / "hostile.html").read_text()
    assert HOSTILE not in page
    assert page.count("<script") == page.count("</script>") == 3
    about = json.loads(re.search(r'<script id="about"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert about["runs"][0]["name"] == HOSTILE


def test_the_page_names_no_address(folder: Path) -> None:
    page = (folder / "both.html").read_text()
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", page) == []
    assert re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|import)\(", page) == []


def test_every_script_is_in_the_page() -> None:
    here = files("pairvdn.viewing.watch")
    scripts = [path for path in here.iterdir() if path.name.endswith(".js")]
    assert {path.name for path in scripts} == set(SCRIPTS)
    for path in scripts:
        assert "innerHTML" not in path.read_text()


def test_a_thousand_steps_of_sixteen_boxes_stay_below_five_megabytes() -> None:
    run = untrained_run(
        "boxes", "box-jump", "pairvdn-sorted", episodes=1, num_boxes=16, max_steps=1000
    )
    assert run.recordings[0].length == 1000
    # Three episodes, the default, with a choice at every step.
    assert 3 * len(make_page([run]).encode()) < 5_000_000
