"""Every Python block of the docs runs, each page from top to bottom."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "docs").rglob("*.md")
    if "```python" in page.read_text()
)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(page, monkeypatch):
    text = (ROOT / page).read_text()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    names = {"__name__": "docs"}
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], page, "exec"), names)
