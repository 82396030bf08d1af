"""Arguments read from code: types, defaults, and meanings from docstrings."""

import dataclasses
from typing import Literal

import pytest

from pairvdn.config.components import known_arguments
from pairvdn.config.config import RECORDS, record_arguments
from pairvdn.config.errors import ConfigError
from pairvdn.config.registry import KINDS
from pairvdn.config.schema import PLAIN, arguments_of, meanings, metavar, record_from


def build(plain, size: int = 3, *, loss: Literal["a", "b"] = "a", hook: object = None) -> None:
    """Build something.

    Args:
        plain: an argument
            of any type.
        size, loss: two at once (and a colon: here)
        unknown (int): not an argument

    Returns:
        size: nothing
    """


def test_arguments_of_a_function() -> None:
    found = arguments_of(build)
    assert list(found) == ["plain", "size", "loss"]  # no config can hold an object
    assert found["plain"].kind == PLAIN
    assert found["plain"].required
    assert not found["size"].required
    assert found["plain"].meaning == "an argument of any type"
    assert found["size"].meaning == found["loss"].meaning == "two at once (and a colon: here)"


def test_only_sections_of_arguments_are_read() -> None:
    assert meanings(build)["unknown"] == "not an argument"
    assert "Returns" not in meanings(build)
    assert "nothing" not in meanings(build).values()


@pytest.mark.parametrize(
    ("kind", "placeholder"),
    [
        (int, "N"),
        (float | None, "X|none"),
        (bool, "{true,false}"),
        (tuple[int, ...], "N,..."),
        (Literal["squared", "huber"], "{squared,huber}"),
        (PLAIN, "VALUE"),
    ],
)
def test_placeholders(kind: object, placeholder: str) -> None:
    assert metavar(kind) == placeholder


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Two sizes."""

    width: int = 1
    depth: float = 1.0

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError("width must be at least 1.")


def test_records_from_plain_values() -> None:
    assert record_from(Sizes, {"depth": 2}, "sizes") == Sizes(1, 2.0)
    for given, says in (
        ({"widht": 1}, "There is no key 'sizes.widht'; did you mean 'width'"),
        ({"width": "1"}, "sizes.width must be a whole number"),
        ({"width": 0}, r"sizes.width must be at least 1\."),
    ):
        with pytest.raises(ConfigError, match=says):
            record_from(Sizes, given, "sizes")


# Every flag of these says what it means. Environments and methods belong in this list as soon as
# all of them have their sections `Args:`.


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in KINDS for name in KINDS[kind].builtin()]
)
def test_every_argument_has_a_meaning(kind: str, name: str) -> None:
    for argument in known_arguments(kind, name).values():
        assert argument.meaning, f"{kind} {name}: {argument.name} has no meaning"


@pytest.mark.parametrize("section", ["", *RECORDS])
def test_every_setting_has_a_meaning(section: str) -> None:
    for argument in record_arguments(section).values():
        assert argument.meaning, f"{section}.{argument.name} has no meaning"


# Arguments of built-in parts that are one of a few words, with all of them.
CHOICES = {
    ("learner", "paper", "loss"): "{squared,huber}",
    ("learner", "parallel", "loss"): "{squared,huber}",
    ("method", "vdn", "activation"): "{relu,leaky_relu}",
    ("method", "vdn", "encoder"): "{none,mlp,gru}",
    ("method", "pairvdn-nearest", "partner"): "{positions,below,spread}",
    ("method", "qmix", "mixing_activation"): "{elu,relu}",
    ("env", "aloha", "graph"): "{original,grid,ring}",
    ("env", "box-jump", "variant"): "{paper,table1,v1}",
    ("env", "simple-spread", "team_reward"): "{sum,mean}",
}


@pytest.mark.parametrize(("kind", "name", "argument"), CHOICES)
def test_choices_are_listed(kind: str, name: str, argument: str) -> None:
    found = known_arguments(kind, name)[argument]
    assert metavar(found.kind) == CHOICES[kind, name, argument]


def test_the_choices_of_the_loss_are_those_that_there_are() -> None:
    from pairvdn.learning.losses import PENALTIES

    assert CHOICES["learner", "paper", "loss"] == "{" + ",".join(PENALTIES) + "}"
