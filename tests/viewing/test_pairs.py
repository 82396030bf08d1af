"""Pairs over a scene: what they contribute decides how they look."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.envs import make
from pairvdn.envs.scene import Circles, Scene
from pairvdn.evaluation import AdditiveBaseline, Explanation, Recording, record_random
from pairvdn.viewing.pairs import LESS, MORE, NEUTRAL, Pair, large_contribution, pairs_at
from pairvdn.viewing.raster import agent_places, draw


@pytest.fixture
def scene() -> Scene:
    """Two agents, and a third that cannot be seen."""
    circles = Circles(
        centre=jnp.array([[2.0, 5.0], [8.0, 5.0], [5.0, 5.0]]),
        radius=jnp.array([0.1, 0.1, 0.0]),
        colour=jnp.zeros((3, 3)),
        agent=jnp.array([0, 1, 2], jnp.int32),
    )
    return Scene(jnp.array([0.0, 0.0, 10.0, 10.0]), circles=circles)


def has_colour(picture: np.ndarray, colour: np.ndarray) -> bool:
    return bool((np.abs(picture / 255 - colour).max(axis=2) < 0.01).any())


@pytest.mark.parametrize(("share", "colour"), [(1.0, MORE), (-1.0, LESS), (0.0, NEUTRAL)])
def test_colours_say_what_a_pair_contributes(scene: Scene, share: float, colour) -> None:
    picture = draw(scene, height=200, width=200, pairs=[Pair(0, 1, share, False)])
    assert has_colour(picture, colour)
    others = [one for one in (MORE, LESS, NEUTRAL) if one is not colour]
    assert not any(has_colour(picture, one) for one in others)


def test_two_pairs_of_the_same_agents_are_two_curves(scene: Scene) -> None:
    there, back = Pair(0, 1, 1.0, False), Pair(1, 0, -1.0, False)
    picture = draw(scene, height=200, width=200, pairs=[there, back])
    middle = picture[:, 100] / 255
    rows = [np.flatnonzero(np.abs(middle - colour).max(axis=1) < 0.01) for colour in (MORE, LESS)]
    assert rows[0].max() < 100 < rows[1].min()  # one above, one below


def test_what_cannot_be_seen_has_no_pairs_and_no_ring(scene: Scene) -> None:
    assert set(agent_places(scene)) == {0, 1}
    plain = draw(scene, height=200, width=200)
    np.testing.assert_array_equal(
        draw(scene, height=200, width=200, pairs=[Pair(0, 2, 1.0, True)], ringed=2), plain
    )
    assert (draw(scene, height=200, width=200, ringed=1) != plain).any()


def test_a_diamond_marks_those_who_coordinate(scene: Scene) -> None:
    pictures = [
        draw(scene, height=200, width=200, pairs=[Pair(0, 1, 1.0, marked)])
        for marked in (False, True)
    ]
    rows, columns = np.nonzero((pictures[0] != pictures[1]).any(axis=2))
    assert 90 < columns.min() < columns.max() < 110
    assert rows.max() < 100


def test_pairs_are_those_of_the_recorded_agent_step() -> None:
    (played,) = record_random(make("gather", max_steps=5), seed=0)
    payoffs = jax.random.normal(jax.random.key(0), (3, 3, 5, 5))

    def explanation(agent_step: int) -> Explanation:
        coordinated = jnp.arange(5) == (2 if agent_step == 1 else -1)
        alone = AdditiveBaseline(
            jnp.zeros((5, 5)), jnp.zeros(5, jnp.int32), jnp.zeros(()), coordinated
        )
        edges = jnp.array([[0, 1], [3, 2], [4, 4]], jnp.int32)
        return Explanation(
            jnp.zeros(1), jnp.ones((5, 5), bool), None, edges, payoffs[agent_step], alone
        )

    explanations = jax.tree.map(lambda *leaves: np.stack(leaves), *map(explanation, range(3)))
    recording = Recording(played.frames, played.actions, explanations, action_repeat=2)
    large = large_contribution(recording)
    assert 0 < large <= float(jnp.abs(payoffs).max())
    for step, agent_step in ((0, 0), (1, 0), (3, 1), (4, 2), (5, 2)):
        pairs = pairs_at(recording, step, large)
        # Who has no partner but itself is no pair.
        assert [(one.first, one.second) for one in pairs] == [(0, 1), (3, 2)]
        assert [one.coordinated for one in pairs] == [False, agent_step == 1]
        actions = recording.actions[min(step, 4)]
        for number, one in enumerate(pairs):
            found = payoffs[agent_step, number, actions[one.first], actions[one.second]] / large
            assert one.share == pytest.approx(float(jnp.clip(found, -1, 1)), abs=1e-6)
    assert pairs_at(played, 0, 1.0) == []
    assert large_contribution(played) == 1.0
