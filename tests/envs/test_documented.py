"""Every argument of every environment has a meaning, from which flags take their help."""

import dataclasses
import inspect
import typing

import pytest
from specification import arguments

from pairvdn import envs
from pairvdn.envs.adapters.jaxmarl import from_jaxmarl
from pairvdn.envs.adapters.pettingzoo.env import FromPettingZoo
from pairvdn.envs.box_jump.observe import SCALINGS, SHARED_NAMES, SHARED_NUMBERS
from pairvdn.envs.box_jump.reward import REWARDS
from pairvdn.envs.box_jump.variants import (
    VARIANTS,
    Parameters,
    RewardName,
    ScalingName,
    SharedNumber,
    VariantName,
)
from pairvdn.envs.cooking import settings


def documented(what):
    """The names in the section of arguments."""
    return [line.split("`")[1] for line in arguments(what).splitlines()]


@pytest.mark.parametrize("build", [*map(envs.constructor, envs.names()), FromPettingZoo])
def test_a_constructor_documents_its_arguments_in_order(build):
    assert documented(build) == list(inspect.signature(build).parameters)


def test_from_jaxmarl_documents_its_arguments():
    assert documented(from_jaxmarl) == list(inspect.signature(from_jaxmarl).parameters)


def test_records_document_their_fields():
    assert documented(Parameters) == [field.name for field in dataclasses.fields(Parameters)]
    assert documented(settings.Changes) == list(settings.Changes.__annotations__)
    fields = {field.name for field in dataclasses.fields(settings.Settings)}
    assert fields == set(settings.Changes.__annotations__)


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (RewardName, REWARDS),
        (ScalingName, SCALINGS),
        (SharedNumber, SHARED_NUMBERS),
        (SharedNumber, SHARED_NAMES),
        (VariantName, VARIANTS),
        (settings.VariantName, settings.VARIANTS),
    ],
)
def test_the_choices_of_a_type_are_those_that_exist(choices, known):
    assert typing.get_args(choices) == tuple(known)
