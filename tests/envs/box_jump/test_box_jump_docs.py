"""The docs page holds the specification word for word."""

from pathlib import Path

from specification import arguments, specification

from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.variants import Parameters

PAGE = Path(__file__).parents[3] / "docs" / "environments" / "box-jump.md"


def test_the_page_holds_the_docstring() -> None:
    assert specification(BoxJump) in PAGE.read_text()
    assert arguments(Parameters) in PAGE.read_text()


def test_the_page_names_tests_that_exist() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    for word in PAGE.read_text().split("`"):
        if word.startswith("test_"):
            assert f"def {word}(" in tests or (Path(__file__).parent / word).exists(), word
