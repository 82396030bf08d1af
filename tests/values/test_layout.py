"""Orders by place, and how far apart partners stand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from value_examples import best_by_enumeration, spec

from pairvdn import values
from pairvdn.values.layout import below_or_beside, left_to_right, offsets

# Two columns, of three boxes around x = 1 and of two around x = 5, and one box alone.
PLACES = jnp.array([[5.1, 0.5], [1.1, 2.5], [0.8, 0.5], [3.0, 0.5], [1.0, 1.5], [4.9, 1.5]])


def test_left_to_right():
    np.testing.assert_array_equal(left_to_right(PLACES), [2, 4, 1, 3, 5, 0])


def test_column_by_column_from_bottom_to_top():
    np.testing.assert_array_equal(left_to_right(PLACES, 0.5), [2, 4, 1, 3, 0, 5])


def test_a_gap_that_joins_everything_sorts_by_height():
    np.testing.assert_array_equal(left_to_right(PLACES, 9.0), [2, 3, 0, 4, 5, 1])


def columns_by_a_plain_loop(places):
    columns: list[list[int]] = []
    for agent in np.argsort(places[:, 0]).tolist():
        if not columns or places[agent, 0] - places[columns[-1][-1], 0] >= 0.5:
            columns.append([])
        columns[-1].append(agent)
    return [sorted(column, key=lambda agent: places[agent, 1]) for column in columns]


@pytest.mark.parametrize("seed", range(5))
def test_columns_and_partners_agree_with_a_plain_loop(seed):
    places = jax.random.uniform(jax.random.key(seed), (12, 2), maxval=6.0)
    columns = columns_by_a_plain_loop(np.asarray(places))
    np.testing.assert_array_equal(left_to_right(places, 0.5), np.concatenate(columns))
    partners = np.asarray(below_or_beside(places, 0.5))
    for k, column in enumerate(columns):
        next_foot = columns[(k + 1) % len(columns)][0]
        assert partners[column].tolist() == [next_foot, *column[:-1]]


@pytest.mark.parametrize("seed", range(5))
def test_agents_at_the_same_place_keep_the_order_of_their_numbers(seed):
    places = jax.random.randint(jax.random.key(seed), (12, 2), 0, 4).astype(jnp.float32)
    np.testing.assert_array_equal(left_to_right(places), np.argsort(places[:, 0], kind="stable"))
    columns = np.lexsort((np.arange(12), places[:, 0], places[:, 1], places[:, 0]))
    np.testing.assert_array_equal(left_to_right(places, 0.5), columns)


def test_agents_without_a_place_come_last():
    places = PLACES.at[1].set(jnp.nan).at[4, 0].set(jnp.inf)
    np.testing.assert_array_equal(left_to_right(places), [2, 3, 5, 0, 1, 4])


def test_partners_are_below_or_the_foot_of_the_next_column():
    np.testing.assert_array_equal(below_or_beside(PLACES, 0.5), [2, 4, 3, 0, 2, 0])


def test_a_single_column_stands_on_itself():
    np.testing.assert_array_equal(below_or_beside(PLACES, 9.0), [3, 5, 2, 2, 0, 4])


def test_offsets_are_seen_from_the_first_member():
    groups = jnp.array([[2, 4, 3], [5, 0, 0]])
    apart = offsets(PLACES, groups, 2.0)
    np.testing.assert_allclose(apart[0], np.tanh([0.1, 0.5, 1.1, 0.0]), atol=1e-6)
    np.testing.assert_allclose(apart[1], np.tanh([0.1, -0.5, 0.1, -0.5]), atol=1e-6)


SIZES = spec(num_agents=6, num_actions=3, observation_size=4, state_size=2)


def build(method, **arguments):
    return values.make(
        method,
        SIZES,
        hidden_sizes=(8,),
        identifiers=False,
        key=jax.random.key(0),
        **arguments,
    )


OBSERVATION = jax.random.normal(jax.random.key(1), (6, 4))
STATE = jnp.zeros(2)


def test_a_ring_with_offsets_sees_who_stands_how_far_apart():
    value = build("pairvdn-sorted", column_gap=0.5, offset_scale=1.0)
    before = value.tables(OBSERVATION, STATE, PLACES)
    after = value.tables(OBSERVATION, STATE, PLACES.at[5, 1].add(0.3))  # nobody changes place
    np.testing.assert_array_equal(before.edges, after.edges)
    differs = np.any(np.asarray(before.payoffs != after.payoffs), axis=(1, 2))
    touched = np.any(np.asarray(before.edges == 5), axis=1)
    np.testing.assert_array_equal(differs, touched)


def test_learned_pairs_with_offsets_see_where_the_other_stands():
    value = build("pairvdn-learned", offset_scale=1.0)
    before = value.tables(OBSERVATION, STATE, PLACES)
    np.testing.assert_array_equal(before.payoffs, jnp.swapaxes(before.payoffs, 0, 1).mT)
    together = value.tables(OBSERVATION, STATE, PLACES + jnp.array([[0.5, -1.0]]))
    np.testing.assert_allclose(together.payoffs, before.payoffs, rtol=1e-4, atol=1e-6)
    after = value.tables(OBSERVATION, STATE, PLACES.at[5, 1].add(0.3))
    differs = np.any(np.asarray(before.payoffs != after.payoffs), axis=(2, 3))
    touched = np.zeros((6, 6), bool)
    touched[5, :5] = touched[:5, 5] = True
    np.testing.assert_array_equal(differs, touched)
    np.testing.assert_array_equal(before.utilities, after.utilities)
    nowhere = value.tables(OBSERVATION, STATE, PLACES.at[5].set(jnp.nan))
    assert np.isfinite(nowhere.payoffs).all()


def test_vdn_neighbours_looks_at_both_sides_and_no_farther():
    value = build("vdn-neighbours", column_gap=0.5)
    before = value.tables(OBSERVATION, STATE, PLACES)
    after = value.tables(OBSERVATION.at[4].add(1.0), STATE, PLACES)  # between 2 and 1
    differs = np.any(np.asarray(before != after), axis=1)
    np.testing.assert_array_equal(differs, [False, True, True, False, True, False])


def test_vdn_neighbours_does_not_care_how_agents_are_numbered():
    value = build("vdn-neighbours", offset_scale=1.0)
    shuffled = jnp.array([3, 1, 5, 0, 2, 4])
    tables = value.tables(OBSERVATION, STATE, PLACES)
    again = value.tables(OBSERVATION[shuffled], STATE, PLACES[shuffled])
    np.testing.assert_allclose(again, tables[shuffled], rtol=1e-5)


@pytest.mark.parametrize("gap", [0.5, 9.0])  # three columns; one, whose foot is its own partner
def test_partners_below_are_maximised_exactly(gap):
    value = build("pairvdn-nearest", partner="below", column_gap=gap, offset_scale=1.0)
    tables = value.tables(OBSERVATION, STATE, PLACES)
    np.testing.assert_array_equal(tables.edges[:, 1], below_or_beside(PLACES, gap))
    everything = jnp.ones((6, 3), dtype=bool)
    actions, best = value.greedy(tables, everything)
    np.testing.assert_allclose(best, value.evaluate(tables, actions), rtol=1e-5)
    np.testing.assert_allclose(
        best[0], best_by_enumeration(value, tables, everything, SIZES), rtol=1e-5
    )


def test_partners_by_place_and_by_spread_need_different_things():
    with pytest.raises(ValueError, match="needs column_gap"):
        build("pairvdn-nearest", partner="below")
    with pytest.raises(ValueError, match="column_gap is for partner='below'"):
        build("pairvdn-nearest", column_gap=0.5)
    with pytest.raises(ValueError, match="offset_scale must be greater than 0"):
        build("pairvdn-sorted", offset_scale=0.0)
    with pytest.raises(ValueError, match="column_gap must be greater than 0"):
        build("vdn-neighbours", column_gap=-0.5)
    with pytest.raises(ValueError, match="omit offset_scale"):
        build("pairvdn-nearest", partner="spread", offset_scale=1.0)
    with pytest.raises(ValueError, match="offset_scale must be greater than 0"):
        build("pairvdn-learned", offset_scale=0.0)
