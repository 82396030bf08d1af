"""Every Python block of README and docs runs, page by page; links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
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


def test_links_lead_somewhere():
    dead = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead
