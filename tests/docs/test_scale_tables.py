"""The computed tables of docs/scale.md are those that the benchmark computes."""

from pathlib import Path

import jax
import pytest
import scale

from pairvdn.config import load_preset

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
QUICK = ("exchange",)  # the others take longer, or trace up to a thousand boxes


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in scale.TABLES
    ],
)
def test_a_computed_table_is_in_the_docs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    scale.TABLES[name]()
    assert capsys.readouterr().out in PAGE.read_text()


def test_computed_costs_are_those_of_a_real_state() -> None:
    changes = {"learner.replay_capacity": 2048, "epochs": 1, "method.hidden_sizes": (4,)}
    config = load_preset("climbing/pairvdn").replace(changes)
    state = jax.jit(config.build().learner.init)(jax.random.key(0))
    found = scale.cost(config)
    assert found.replay_bytes == sum(leaf.nbytes for leaf in jax.tree.leaves(state.replay.items))
    weights = [leaf for leaf in jax.tree.leaves(state.learned.value) if leaf.dtype == "float32"]
    assert found.parameters == sum(leaf.size for leaf in weights)
    assert found.gradient_bytes == 4 * (found.parameters + 3)
    assert found.env_bytes * 32 == sum(leaf.nbytes for leaf in jax.tree.leaves(state.collecting))
