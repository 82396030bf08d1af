"""Preset files: layers of settings, variants, and names that are found."""

import pytest

from pairvdn.config import ConfigError, load_preset
from pairvdn.config.presets import is_preset, presets_of, recipe_of
from pairvdn.config.registry import KINDS


def test_a_method_changes_other_sections_too() -> None:
    assert load_preset("box-jump/dqn").env.arguments["num_boxes"] == 4
    assert load_preset("box-jump/vdn").env.arguments["num_boxes"] == 16


def test_the_paper_starts_afresh_and_other_variants_from_their_file() -> None:
    paper, best = load_preset("box-jump/pairvdn-sorted-paper"), load_preset("box-jump/best")
    usual = load_preset("box-jump/pairvdn-sorted")
    assert paper.training_env == {}
    assert paper.method.arguments["column_gap"] is None
    assert best.method == usual.method
    assert (best.epochs, usual.epochs) == (480, 160)
    assert best.learner == usual.learner


def test_a_variant_is_for_its_methods_only() -> None:
    with pytest.raises(ConfigError, match="There is no preset 'cooking/dcg-paper'"):
        load_preset("cooking/dcg-paper")


def test_every_recipe_says_what_it_is_for() -> None:
    for env in KINDS["env"].builtin():
        assert all(presets_of(env).values()), env
    for name in ("jaxmarl:x", "pettingzoo:x.y"):
        assert recipe_of(name).about


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("wall/vdn", True),
        ("wall/vdn-paper", False),
        ("wall", False),
        ("box-jump/best", True),
        ("box-jump/vdn-best", False),
        ("wall/mypackage.line:Line", True),
        ("mypackage.door:Door", True),
        ("runs/vdn", False),
    ],
)
def test_names(name: str, known: bool) -> None:
    assert is_preset(name) is known


def test_methods_that_do_not_fit_are_not_listed() -> None:
    assert "wall/pairvdn-sorted" not in presets_of("wall")  # needs positions
    assert "sensor/dqn" not in presets_of("sensor")  # 9^15 joint actions
    assert "wall/pairvdn-nearest" in presets_of("wall")  # told to do without positions
