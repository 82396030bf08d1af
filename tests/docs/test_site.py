"""The site builds without a warning, holds everything public, and asks no other host."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser import ARGUMENTS, MISSING, find_browser

from pairvdn import values

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *("maximise", "values", "envs", "acting", "learning", "evaluation"),
    *("config", "runs", "studies"),
)
SECTIONS = [
    "Maximum",
    "When it fails",
    "Arguments",
    "What to look at",
    "Deviations from the paper",
    "Results",
]


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*command, "--config-file", str(config), "--site-dir", str(site)],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    found = build(ROOT / "mkdocs.yml", folder)
    assert found.returncode == 0, found.stderr
    return folder


@pytest.mark.parametrize("package", PACKAGES)
def test_everything_public_is_in_the_reference(package, site):
    module = importlib.import_module(f"pairvdn.{package}")
    reference = (site / f"api/{package.partition('.')[0]}.html").read_text()
    anchors = set(re.findall(r'<a id="([\w.]+)"|<h\d id="([\w.]+)"', reference))
    names = {one.rpartition(".")[2] for pair in anchors for one in pair}
    assert [name for name in module.__all__ if name not in names] == []


def test_every_method_is_in_the_reference(site):
    reference = (site / "api/values.html").read_text()
    for method in values.names():
        made = values.constructor(method)
        assert f'id="{made.__module__}.{made.__name__}"' in reference


def test_pages_of_methods_have_one_shape(site):
    for method in values.names():
        page = (site / f"methods/{method}.html").read_text()
        assert re.findall(r"<h2[^>]*>(.*?)<a", page) == SECTIONS, method
        assert page.index("<math") < page.index("<h2"), "the formula comes first"


@pytest.mark.parametrize("folder", ["decisions", "environments", "methods", "results"])
def test_a_folder_names_its_pages(folder):
    pages = {page.name: page.read_text() for page in (ROOT / "docs" / folder).glob("*.md")}
    named = re.findall(r"\]\(([\w.-]+\.md)", pages.pop("README.md"))
    assert pages.keys() - set(named) == set()


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert not re.findall(r'<(?:script|img|iframe)[^>]+src="?https?:', text)
        assert not re.findall(r'<link[^>]+rel="?(?:stylesheet|preconnect)[^>]+https?:', text)


@pytest.mark.skipif(find_browser() is None, reason=MISSING)
def test_it_is_read_and_searched_from_disk(site):
    sync_api = pytest.importorskip("playwright.sync_api")
    asked: list[str] = []
    complaints: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=[*ARGUMENTS])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((site / "methods/vdn.html").as_uri())
        assert page.locator("math").first.bounding_box()["height"] > 20  # drawn, limits and all
        page.locator("input.md-search__input").click()
        page.keyboard.type("successor graph")
        page.locator("a.md-search-result__link").first.click()
        page.wait_for_url("**/*.html?h=*")
        assert "successor" in page.locator("article").inner_text().lower()
        browser.close()
    assert complaints == []
    assert all(address.startswith(("file://", "data:")) for address in asked)


@pytest.mark.skipif(find_browser() is None, reason=MISSING)
def test_tables_fit_a_screen_of_1280_pixels(site):
    sync_api = pytest.importorskip("playwright.sync_api")
    pages = [page for page in site.rglob("*.html") if "<table>" in page.read_text()]
    too_wide = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=[*ARGUMENTS], headless=True
        )
        shown = browser.new_page(viewport={"width": 1280, "height": 800})
        for page in pages:
            shown.goto(page.as_uri())
            excess = shown.locator(".md-typeset__table").evaluate_all(
                "boxes => boxes.map(box => box.scrollWidth - box.parentElement.clientWidth)"
            )
            too_wide += [f"{page.relative_to(site)}: {more} px" for more in excess if more > 0]
        browser.close()
    assert too_wide == []


def test_shapes_can_be_read(site):
    text = re.sub(r"<[^>]+>", "", (site / "api/values.html").read_text())
    assert "observation: Float[Array, &quot;n o&quot;]" in text or (
        'observation: Float[Array, "n o"]' in text
    )


def test_a_file_outside_docs_is_a_page(site):
    assert 'href="source/examples/01_maximise.py.html"' in (site / "index.html").read_text()
    assert "maximise" in (site / "source/examples/01_maximise.py.html").read_text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[gone](gone.md)", "gone.md"),
        ("[gone](../src/pairvdn/gone.py)", "gone.py"),
        ("[nowhere](learning.md#nowhere)", "nowhere"),
    ],
)
def test_a_dead_link_is_refused(text, says, tmp_path):
    bad = small_site(tmp_path, {"learning.md": f"# Bad\n\n{text}\n"})
    found = build(bad, tmp_path / "site")
    assert found.returncode != 0
    assert says in found.stderr


def test_a_page_that_is_nowhere_in_the_order_is_refused(tmp_path):
    assert build(small_site(tmp_path, {}), tmp_path / "site").returncode == 0
    found = build(small_site(tmp_path, {"stray.md": "# Stray\n"}), tmp_path / "site")
    assert found.returncode != 0
    assert "stray.md" in found.stderr


def small_site(folder: Path, pages: dict[str, str]) -> Path:
    """A repository with these pages, without a reference, and with our settings."""
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs/hooks", docs / "hooks", dirs_exist_ok=True)
    shutil.copytree(ROOT / "docs/assets", docs / "assets", dirs_exist_ok=True)
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (folder / name).write_text(f"# {name}\n")
    for name, text in pages.items():
        (docs / name).write_text(text)
    shutil.copy(ROOT / "mkdocs.yml", folder)
    return folder / "mkdocs.yml"
