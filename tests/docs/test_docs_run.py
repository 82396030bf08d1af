"""Every Python block of README and docs runs, page by page; links lead somewhere."""

import re
import traceback

import pytest
from docs_pages import ROOT, blocks, name, pages

PAGES = {name(page): page for page in pages() if any(b.kind == "python" for b in blocks(page))}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    names = {"__name__": "docs"}
    for block in blocks(PAGES[page]):
        if block.kind == "python":
            lines_before = "\n" * (block.line - 1)
            exec(compile(lines_before + block.text, page, "exec"), names)


def test_a_wrong_block_is_found(tmp_path):
    """As every block is: by an error on the line of the page."""
    page = tmp_path / "bad.md"
    page.write_text("# Bad\n\n```python\nimport pairvdn\n\npairvdn.unload()\n```\n")
    (block,) = blocks(page)
    with pytest.raises(AttributeError, match="unload") as error:
        exec(compile("\n" * (block.line - 1) + block.text, "bad.md", "exec"), {})
    frames = traceback.extract_tb(error.value.__traceback__)
    assert [frame.lineno for frame in frames if frame.filename == "bad.md"] == [6]


def test_links_lead_somewhere():
    dead = []
    for page in pages():
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead
