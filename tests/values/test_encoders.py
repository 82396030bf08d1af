"""Encoders: none is the observation itself, mlp has parameters, both have an empty carry."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from value_examples import DEFAULT, build, inputs, spec

from pairvdn import values
from pairvdn.values.encoders import NoEncoder, make_encoder

every_method = pytest.mark.parametrize("method", values.names())


def encoder(name, sizes=DEFAULT, **arguments):
    return make_encoder(sizes, key=jax.random.key(0), encoder=name, **arguments)[0]


@pytest.mark.parametrize("name", ["none", "mlp"])
def test_a_feed_forward_encoder_remembers_nothing(name):
    encode, observation = encoder(name), inputs().observation
    carry = encode.init_carry()
    assert jax.tree.leaves(carry) == []
    features, after = encode(carry, observation)
    assert features.shape == (DEFAULT.num_agents, encode.feature_size)
    assert encode.acted(after, jnp.zeros(3, jnp.int32)) == carry


def test_without_an_encoder_the_heads_get_the_observation_and_the_whole_key():
    key = jax.random.key(3)
    encode, head_key, _ = make_encoder(DEFAULT, key=key)
    assert isinstance(encode, NoEncoder)
    assert head_key is key
    assert jax.tree.leaves(encode) == []
    observation = inputs().observation
    assert encode((), observation)[0] is observation


@pytest.mark.parametrize("identifiers", [True, False])
def test_features_of_equal_observations_differ_by_identifier_only(identifiers):
    same = jnp.ones((DEFAULT.num_agents, DEFAULT.observation_size))
    features, _ = encoder("mlp", identifiers=identifiers, encoder_size=7)((), same)
    assert features.shape == (3, 7)
    assert np.allclose(features[0], features[1]) == (not identifiers)


@every_method
def test_an_encoder_is_used_and_its_width_does_not_depend_on_the_observation(method):
    value, observed = build(method, encoder="mlp", encoder_size=9), inputs()
    features, _ = value.encoder(value.encoder.init_carry(), observed.observation)
    tables = value.tables(features, observed.state, observed.positions)
    jax.tree.map(np.testing.assert_array_equal, tables, value.tables_of(*observed))
    other = value.tables(features + 1.0, observed.state, observed.positions)
    assert not eqx.tree_equal(tables, other)


@pytest.mark.parametrize("name", ["none", "mlp"])
@pytest.mark.parametrize("shape", [(3, 13), (2, 4)])
def test_an_observation_of_another_shape_is_refused(name, shape):
    message = r"observation must have shape \(num_agents, observation_size\) = \(3, 4\), not \("
    value = build("vdn", encoder=name)
    with pytest.raises(ValueError, match=message):
        value.tables_of(jnp.ones(shape), jnp.ones(5))
    with pytest.raises(ValueError, match=message):
        eqx.filter_jit(value.encoder)((), jnp.ones(shape))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"encoder": "gruu"}, "encoder must be one of none, mlp, gru, not 'gruu'"),
        ({"encoder": "mlp", "encoder_size": 0}, "encoder_size must be at least 1, not 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        build("pairvdn", spec(num_agents=4), **arguments)
