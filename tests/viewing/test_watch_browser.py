"""The page in a real browser, opened from disk: what a person does with it, and what it then says.

Every test also asserts, at its end, that the page asked for no other address, logged no error and
opened no dialog.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import ARGUMENTS, MISSING, find_browser
from watch_pages import HOSTILE, pages

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(find_browser() is None, reason=MISSING)

REPEAT = 2  # of the run with pairs
Open = Callable[..., "sync_api.Page"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages(tmp_path_factory)


@pytest.fixture(scope="module")
def numbers(folder: Path) -> dict[str, np.ndarray]:
    with np.load(folder / "numbers.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def chromium() -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=[*ARGUMENTS], headless=True
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: "sync_api.Browser", folder: Path) -> Iterator[Open]:
    asked: list[str] = []
    complaints: list[str] = []

    def open_(name: str, **options: object) -> "sync_api.Page":
        page = chromium.new_context(**options).new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto((folder / name).as_uri())
        page.wait_for_selector("body.ready")
        return page

    yield open_
    for context in chromium.contexts:
        context.close()
    assert complaints == []
    assert all(address.startswith(("file://", "data:image/")) for address in asked)


def step_of(page: "sync_api.Page") -> int:
    return int(page.locator("body").get_attribute("data-step"))


def scrub(page: "sync_api.Page", step: int) -> None:
    page.locator("#scrub").fill(str(step))


def plain(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def shown_as(text: str, number: float) -> bool:
    """Whether a text is this number, to as many decimals as the text has."""
    decimals = len(text.partition(".")[2])
    return plain(text) == float(f"{number:.{decimals}f}")


def test_play_advances_and_pause_stops(open_page: Open) -> None:
    page = open_page("one.html")
    assert step_of(page) == 0
    page.locator("#speed").select_option("10")
    page.locator("#play").click()
    page.wait_for_selector("body:not([data-step='0'])")
    page.locator("#play").click()
    stopped = step_of(page)
    page.wait_for_timeout(250)
    assert step_of(page) == stopped
    page.locator("#speed").select_option("80")
    page.locator("#play").click()
    page.wait_for_selector("body:not(.playing)")
    assert page.locator("#step").inner_text() == "8 / 8"  # it stops at the end


def test_scrubbing_jumps(open_page: Open) -> None:
    page = open_page("one.html")
    scrub(page, 5)
    assert step_of(page) == 5
    box = page.locator("#lanes").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 2 / 8, box["y"] + 5)
    assert step_of(page) == 2
    assert page.locator("#scrub").input_value() == "2"


def test_keys(open_page: Open) -> None:
    page = open_page("one.html")
    for key, step in [
        *(("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 8), ("ArrowRight", 8)),
        *(("Shift+ArrowLeft", 0), ("Shift+ArrowRight", 8), ("Home", 0)),
    ]:
        page.keyboard.press(key)
        assert step_of(page) == step
    page.keyboard.press("Space")
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    page.keyboard.press("Space")
    page.keyboard.press("a")
    assert page.locator(".agent-panel h3").inner_text() == "Agent 1"
    page.keyboard.press("l")
    assert page.locator("#labels").input_value() == "number"
    page.keyboard.press("e")
    assert page.locator("#episode").input_value() == "1"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    assert "one step forward" in page.locator("#help-keys").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def on_screen(page: "sync_api.Page", numbers: dict, side: int, place: np.ndarray) -> list[float]:
    """Where a place of the world is: the whole scene fits, undistorted, in the middle."""
    left, bottom, right, top = numbers[f"{side}.0.scene.bounds"][0].tolist()
    box = page.locator("canvas.scene").nth(side).bounding_box()
    scale = min(box["width"] / (right - left), box["height"] / (top - bottom))
    x, y = place.tolist()
    return [
        box["x"] + box["width"] / 2 + scale * (x - (left + right) / 2),
        box["y"] + box["height"] / 2 - scale * (y - (bottom + top) / 2),
    ]


def edge_middle(numbers: dict, step: int, pair: int) -> np.ndarray:
    """The middle of a pair's curve, in the world: it bulges upwards by 0.18 of its length."""
    edges = numbers["0.0.explanation.edges"][step // REPEAT].tolist()
    i, j = edges[pair]
    assert i < j or [j, i] not in edges  # otherwise it bulges downwards
    first, second = numbers["0.0.scene.circles.centre"][step, [i, j]]
    dx, dy = second - first
    side = 1 if dx >= 0 else -1
    return (first + second) / 2 + 0.18 * side * np.array([-dy, dx])


def test_a_click_on_a_pair_shows_its_table(open_page: Open, numbers: dict) -> None:
    step, pair = 5, 4
    page = open_page("one.html", viewport={"width": 1300, "height": 900})
    scrub(page, step)
    page.mouse.click(*on_screen(page, numbers, 0, edge_middle(numbers, step, pair)))
    i, j = numbers["0.0.explanation.edges"][step // REPEAT, pair]
    assert page.locator(".pair-panel h3").inner_text() == f"Pair {i} – {j}"
    table = numbers["0.0.explanation.payoffs"][step // REPEAT, pair]
    cells = page.locator(".heat tbody td")
    texts = cells.all_inner_texts()
    assert len(texts) == table.size
    assert all(map(shown_as, texts, table.ravel().tolist()))
    classes = cells.evaluate_all("cells => cells.map(cell => [...cell.classList])")
    for name, actions in {
        "chosen": numbers["0.0.actions"][step],
        "additive": numbers["0.0.explanation.additive.actions"][step // REPEAT],
    }.items():
        marked = [place for place, given in enumerate(classes) if name in given]
        assert marked == [actions[i] * len(table) + actions[j]]


def test_the_list_marks_who_coordinates(open_page: Open, numbers: dict) -> None:
    page = open_page("one.html")
    seen = set()
    for step in range(0, 8, REPEAT):
        scrub(page, step)
        actions = numbers["0.0.actions"][step]
        coordinated = numbers["0.0.explanation.additive.coordinated"][step // REPEAT]
        tables = numbers["0.0.explanation.payoffs"][step // REPEAT]
        for pair, (i, j) in enumerate(numbers["0.0.explanation.edges"][step // REPEAT]):
            row = page.locator(f".pair-list [data-pair='{pair}']")
            assert row.locator(".name").inner_text() == f"{i} – {j}"
            assert shown_as(
                row.locator(".number").inner_text(), tables[pair, actions[i], actions[j]]
            )
            together = bool(coordinated[i] or coordinated[j])
            assert row.locator(".mark").inner_text() == ("◆" if together else "")
            seen.add(together)
            row.click()
            said = page.locator(".verdict").inner_text()
            assert ("They coordinate" in said) == together
    assert seen == {True, False}


def test_readouts_are_the_recorded_numbers(open_page: Open, numbers: dict) -> None:
    page = open_page("one.html")
    page.locator("#episode").select_option("1")
    scrub(page, 7)
    facts = page.locator("[data-fact]").evaluate_all(
        "cells => Object.fromEntries(cells.map(cell => [cell.dataset.fact, cell.textContent]))"
    )
    assert shown_as(facts["reward"], numbers["0.1.reward"][7])
    assert shown_as(facts["return"], numbers["0.1.return"][7])
    assert shown_as(facts["value"], numbers["0.1.explanation.value"][7 // REPEAT, 0])
    coordinated = numbers["0.1.explanation.additive.coordinated"][7 // REPEAT]
    assert facts["coordinating"] == str(coordinated.sum())


def test_side_by_side(open_page: Open, numbers: dict) -> None:
    page = open_page("both.html", viewport={"width": 1400, "height": 900})
    assert page.locator(".side h2").all_inner_texts() == ["pairs", "alone"]
    left, right = (page.locator("canvas.scene").nth(side).bounding_box() for side in (0, 1))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]
    assert np.array_equal(
        numbers["0.0.scene.circles.centre"][0], numbers["1.0.scene.circles.centre"][0]
    )
    scrub(page, 3)
    page.keyboard.press("a")
    for side, name in enumerate(
        ["0.0.explanation.additive.utilities", "1.0.explanation.utilities"]
    ):
        panel = page.locator(".agent-panel").nth(side)
        worth = numbers[name][3 // REPEAT if side == 0 else 3, 1]
        assert all(map(shown_as, panel.locator(".row .number").all_inner_texts(), worth.tolist()))
        observed = numbers[f"{side}.0.observation"][3, 1]
        assert all(map(shown_as, panel.locator(".seen dd").all_inner_texts(), observed.tolist()))
    assert page.locator(".pair-panel").count() == 1


@pytest.mark.parametrize("name", ["one.html", "boxes.html"])
def test_table_and_agent_are_beside_the_scene(open_page: Open, name: str) -> None:
    page = open_page(name, viewport={"width": 1280, "height": 800})
    scene = page.locator("canvas.scene").bounding_box()
    playback = page.locator(".transport").bounding_box()
    for panel in (".heat", ".verdict", ".agent-panel .worth"):
        box = page.locator(panel).bounding_box()
        assert box["x"] > scene["x"] + scene["width"]
        assert box["y"] + box["height"] < playback["y"]  # nothing is below the fold


def test_two_tables_are_above_the_fold(open_page: Open) -> None:
    page = open_page("both.html", viewport={"width": 1280, "height": 800})
    table, playback = (
        page.locator(".heat").bounding_box(),
        page.locator(".transport").bounding_box(),
    )
    assert table["y"] + table["height"] < playback["y"]


@pytest.mark.parametrize(("key", "panel"), [("p", ".pair-panel"), ("a", ".agent-panel")])
def test_keys_scroll_to_the_selection(open_page: Open, key: str, panel: str) -> None:
    page = open_page("boxes.html", viewport={"width": 700, "height": 500})
    playback = page.locator(".transport").bounding_box()
    assert page.locator(f"{panel} h3").bounding_box()["y"] > playback["y"]  # not visible yet
    page.keyboard.press(key)
    heading = page.locator(f"{panel} h3").bounding_box()
    assert 0 <= heading["y"] < playback["y"] - heading["height"]
    for _ in range(9 if key == "p" else 0):
        page.keyboard.press(key)
    pressed, rows = (
        page.locator(f".pair-list {one}").bounding_box() for one in ("[aria-pressed=true]", ".rows")
    )
    assert rows["y"] <= pressed["y"] <= rows["y"] + rows["height"]


def test_words_are_explained(open_page: Open) -> None:
    page = open_page("boxes.html")
    for word, says in {
        "coordinating": "differs from the additive baseline",
        "gain": "minus the value of the additive baseline",
        "paper score": "unit of the paper's table 1",
    }.items():
        shown = page.locator(".facts dt", has_text=word)
        assert says in shown.get_attribute("title")
    page.keyboard.press("?")
    assert "unit of the paper's table 1" in page.locator("#help-words").inner_text()


def test_rendered_pictures_are_the_scene(open_page: Open) -> None:
    page = open_page("pictures.html")
    colour = """share => {
        const canvas = document.querySelector('canvas.scene');
        const [x, y] = [share * canvas.width, canvas.height / 2].map(Math.round);
        const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, x, y, 1, 1, 0, 0, 1, 1);
        return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }"""
    for step in (1, 4, 0):
        scrub(page, step)
        assert page.evaluate(colour, 0.45) == [0, 0, 200]
        assert page.evaluate(colour, 0.55) == [50 * step, 0, 0]
    page.locator(".pair-list .row").first.click()
    assert page.locator(".pair-panel h3").inner_text().startswith("Pair")


def test_a_click_on_an_agent_selects_it(open_page: Open, numbers: dict) -> None:
    page = open_page("both.html", viewport={"width": 1400, "height": 900})
    place = numbers["1.0.scene.circles.centre"][0, 2]
    page.mouse.click(*on_screen(page, numbers, 1, place))
    assert page.locator(".agent-panel h3").all_inner_texts() == ["Agent 2", "Agent 2"]


def test_names_are_text(open_page: Open) -> None:
    page = open_page("hostile.html")
    assert page.locator("#title").inner_text() == HOSTILE
    assert page.locator(".side h2").inner_text() == HOSTILE
    assert page.locator(".agent-panel .name").first.inner_text() == HOSTILE
    assert page.locator("img").count() == 0
    assert page.title() == f"{HOSTILE} – pairvdn watch"


def test_a_step_drawn_twice_is_the_same_picture(open_page: Open) -> None:
    page = open_page("one.html")
    picture = "document.querySelector('canvas.scene').toDataURL()"
    scrub(page, 4)
    first = page.evaluate(picture)
    scrub(page, 0)
    assert page.evaluate(picture) != first
    scrub(page, 4)
    assert page.evaluate(picture) == first


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_it_follows_the_theme_and_fits(open_page: Open, scheme: str, width: int) -> None:
    page = open_page("both.html", viewport={"width": width, "height": 800}, color_scheme=scheme)

    def brightness() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(colour.split("(")[1].split(",")[0])

    assert (brightness() > 128) == (scheme == "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#theme").click()
    assert (brightness() > 128) == (scheme == "dark")
