"""Commands in README and docs are what the command line, make and pip understand.

Those of `bash` blocks are also run, by a slow test, page by page; those of `bash long` and
`bash cluster` are not.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_commands import commands, complaints
from docs_pages import KINDS, ROOT, blocks, name, pages, prose

TOOLS = Path(sys.executable).parent
PAGES = {name(page): page for page in pages()}
WITH_COMMANDS = [name(page) for page in pages() if any(b.kind == "bash" for b in blocks(page))]


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_understood(page):
    assert complaints(PAGES[page]) == []


def test_every_block_says_what_it_is():
    """Nothing escapes the tests by being called `sh`, or nothing at all, or by being indented."""
    odd = [f"{b.place}: {b.kind}" for page in pages() for b in blocks(page) if b.kind not in KINDS]
    odd += [
        f"{name(page)}:{line}: {text}"
        for page in pages()
        for line, text in enumerate(prose(page).splitlines(), start=1)
        if re.match(r"\s{4,}(pairvdn|make|python|pip) ", text)
    ]
    assert odd == []


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("pairvdn train box-jump/pairvdn --epoch 3", "There is no flag --epoch; did you mean"),
        ("pairvdn train box-jump/pairvdn --epochs many", "--epochs"),
        ("pairvdn train box-jump/pairvdm", "pairvdm"),
        ("pairvdn train box-jump/vdn \\\n  --env.num-boxs 8", "--env.num-boxs"),
        ("pairvdn evaluate runs/x --best", "There is no flag --best"),
        ("pairvdn evaluate", "RUN"),
        ("pairvdn trian box-jump/vdn", "did you mean 'train'?"),
        ("F=--seedz\npairvdn study run paper-table $F 3", "--seedz"),
        ("make everything", "no target everything"),
        ("python benchmarks/nothing.py", "no script benchmarks/nothing.py"),
        ("pip install 'pairvdn[wiew]'", "no extra wiew"),
        ("ray start --haed", "ray start has no option --haed"),
    ],
)
@pytest.mark.parametrize("kind", ["bash", "bash long", "bash cluster"])
def test_a_wrong_command_is_found(command, says, kind, tmp_path):
    page = tmp_path / "bad.md"
    page.write_text(f"# Bad\n\n```{kind}\nmake test\n{command}\n```\n")
    (found,) = complaints(page)
    last = 4 + command.replace("\\\n", "").count("\n") + 1
    assert found.startswith(f"bad.md:{last}: ")
    assert says in found


def test_an_unknown_tool_is_found_but_on_a_cluster(tmp_path):
    page = tmp_path / "bad.md"
    page.write_text("```bash\nconda install pairvdn\n```\n")
    assert complaints(page) == ["bad.md:2: tests know no command conda"]
    page.write_text(
        "```bash cluster\nsrun --nodes=2 ray start &\n"
        "srun pairvdn study run x.toml --rey auto &\n```\n"
    )
    (found,) = complaints(page)
    assert found.startswith("bad.md:3: ")
    assert "--rey" in found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("`pairvdn trane`", "no command trane"),
        ("`pairvdn evaluate RUN --episode 3`", "evaluate has no flag --episode"),
        ("```text\npairvdn watch RUN [--agianst RUN2]\n```", "watch has no flag --agianst"),
        ("`make tset`", "no target tset"),
    ],
)
def test_a_wrong_mention_is_found(text, says, tmp_path):
    page = tmp_path / "bad.md"
    page.write_text(f"# Bad\n\n{text}\n")
    (found,) = complaints(page)
    assert says in found


def test_blocks_are_what_a_shell_can_read():
    scripts = [block for page in pages() for block in blocks(page) if block.kind.startswith("bash")]
    for block in scripts:
        read = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
        assert read.returncode == 0, f"{block.place}: {read.stderr}"


def test_lines_are_joined_and_variables_put_in():
    script = 'F="--seeds 2"  # both\npairvdn train x \\\n    $F --out "a b"\n\nmake test\n'
    assert [(command.line, command.words) for command in commands(script)] == [
        (1, ["pairvdn", "train", "x", "--seeds", "2", "--out", "a b"]),
        (4, ["make", "test"]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_run(page, tmp_path):
    """As a reader would, one block after the other, where the files of the repository are."""
    for entry in ("examples", "docs", "benchmarks", "Makefile"):
        (tmp_path / entry).symlink_to(ROOT / entry)
    (tmp_path / ".venv").symlink_to(TOOLS.parent)
    script = "".join(block.text for block in blocks(PAGES[page]) if block.kind == "bash")
    found = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}", "SDL_VIDEODRIVER": "dummy"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
