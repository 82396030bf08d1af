"""The texts that users read, and the fenced blocks in them."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Some blocks of commands are only parsed: those that take long and those that need a cluster.
ONLY_PARSED = ("bash long", "bash cluster")
KINDS = ("python", "bash", *ONLY_PARSED, "text", "toml", "json", "math")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block: where its first line is, what it says it is, and what it holds."""

    page: Path
    line: int
    kind: str
    text: str

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.page.name}:{self.line}"


def pages() -> list[Path]:
    """README and its like, docs, and the pages that lie beside the code."""
    folders = ("docs", "results", "src")
    return sorted([*ROOT.glob("*.md"), *(p for f in folders for p in (ROOT / f).rglob("*.md"))])


def name(page: Path) -> str:
    """Its path in the repository."""
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, those inside lists too."""
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
    for found in fence.finditer(text):
        line = text[: found.start(3)].count("\n") + 1
        inside = "\n".join(one.removeprefix(found[1]) for one in found[3].splitlines())
        yield Block(page, line, found[2].strip(), inside + "\n")


def prose(page: Path) -> str:
    """A page without its blocks, every line in its place."""
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^( *)```[^\n`]*\n.*?^\1```$", re.DOTALL | re.MULTILINE)
    return fence.sub(lambda found: "\n" * found[0].count("\n"), text)
