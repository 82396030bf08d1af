"""Copy the main results into the README: python docs/main_table.py (or: make main-table).

A page of docs/results marks what is to stand there, a table as a rule,

    <!-- results:main -->
    ...
    <!-- /results:main -->

and between the same marks of the README stands the same, page by page, with a link to each. A test
refuses a README that differs.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
OPEN, CLOSE = "<!-- results:main -->", "<!-- /results:main -->"
MARKED = re.compile(f"{OPEN}\n(.*?)\n{CLOSE}", re.DOTALL)


def main_results() -> str:
    """What the pages mark, each followed by where it comes from."""
    parts = []
    for page in sorted((ROOT / "docs/results").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        source = f"From [{title}]({page.relative_to(ROOT).as_posix()}), with seeds and commands."
        parts += [f"{found[1].strip()}\n\n{source}" for found in MARKED.finditer(text)]
    return "\n\n".join(parts)


def filled(readme: str) -> str:
    """The text of the README with the main results of now."""
    if not MARKED.search(readme):
        raise SystemExit(f"{README.name} has no {OPEN} ... {CLOSE}.")
    return MARKED.sub(lambda _: f"{OPEN}\n\n{main_results()}\n\n{CLOSE}", readme)


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
