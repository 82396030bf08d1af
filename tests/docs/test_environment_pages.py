"""The page of an environment holds its specification, which is the docstring of its class."""

import inspect
from pathlib import Path

import pytest

from pairvdn import envs

PAGES = Path(__file__).parents[2] / "docs/environments"


def test_the_page_of_pettingzoo_says_what_becomes_of_an_environment():
    from pairvdn.envs.zoo.env import Zoo

    assert inspect.getdoc(Zoo) in (PAGES / "pettingzoo.md").read_text()


@pytest.mark.parametrize("name", ["aloha", "gather", "predator-prey", "sensor", "simple-spread"])
def test_a_page_holds_the_specification(name):
    specification = inspect.getdoc(type(envs.make(name)))
    assert specification in (PAGES / f"{name}.md").read_text()
