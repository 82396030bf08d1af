"""The page of an environment holds its specification, which is the docstring of its class."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from specification import arguments, specification

from pairvdn import envs

PAGES = Path(__file__).parents[2] / "docs/environments"


def test_the_page_of_pettingzoo_says_what_becomes_of_an_environment():
    from pairvdn.envs.adapters.pettingzoo.env import FromPettingZoo

    assert specification(FromPettingZoo) in (PAGES / "pettingzoo.md").read_text()


@pytest.mark.parametrize(
    "name",
    [
        *("aloha", "cooking", "disperse", "gather", "hallway"),
        *("predator-prey", "pursuit", "sensor", "simple-spread", "t-maze"),
    ],
)
def test_a_page_holds_the_specification(name):
    assert specification(type(envs.make(name))) in (PAGES / f"{name}.md").read_text()


def test_the_page_of_cooking_explains_its_settings():
    from pairvdn.envs.cooking.settings import Changes

    assert arguments(Changes) in (PAGES / "cooking.md").read_text()


def calls() -> list[str]:
    """What pages say to be the arguments of an environment and their defaults."""
    found = []
    for page in sorted(PAGES.glob("*.md")):
        found += re.findall(r"^`make\((\".*)\)`$", page.read_text(), re.MULTILINE)
    games = (PAGES / "one-step-games.md").read_text()
    return found + re.findall(r"^\| `(\".*?)` \|", games, re.MULTILINE)


@pytest.mark.parametrize("given", calls())
def test_a_page_tells_the_arguments_and_their_defaults(given):
    call = ast.parse(f"make({given})", mode="eval").body
    told = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    signature = inspect.signature(envs.constructor(ast.literal_eval(call.args[0])))
    assert told == {one.name: one.default for one in signature.parameters.values()}


def test_every_environment_has_a_page():
    told = " ".join(calls())
    missing = [name for name in envs.names() if f'"{name}"' not in told]
    assert [name for name in missing if not (PAGES / f"{name}.md").exists()] == []
