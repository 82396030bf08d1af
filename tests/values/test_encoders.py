"""Encoders: none is the observation itself, mlp has parameters, gru a memory."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from value_examples import DEFAULT, build, inputs, spec

from pairvdn import values
from pairvdn.values.encoder import unroll_step_by_step
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
@pytest.mark.parametrize("name", ["mlp", "gru"])
def test_an_encoder_is_used_and_its_width_does_not_depend_on_the_observation(method, name):
    value, observed = build(method, encoder=name, encoder_size=9), inputs()
    features, _ = value.encoder(value.encoder.init_carry(), observed.observation)
    tables = value.tables(features, observed.state, observed.positions)
    jax.tree.map(np.testing.assert_array_equal, tables, value.tables_of(*observed))
    other = value.tables(features + 1.0, observed.state, observed.positions)
    assert not eqx.tree_equal(tables, other)


@pytest.mark.parametrize("name", ["none", "mlp", "gru"])
@pytest.mark.parametrize("shape", [(3, 13), (2, 4)])
def test_an_observation_of_another_shape_is_refused(name, shape):
    message = r"observation must have shape \(num_agents, observation_size\) = \(3, 4\), not \("
    value = build("vdn", encoder=name)
    with pytest.raises(ValueError, match=message):
        value.tables_of(jnp.ones(shape), jnp.ones(5))
    with pytest.raises(ValueError, match=message):
        eqx.filter_jit(value.encoder)(value.encoder.init_carry(), jnp.ones(shape))


def steps(length: int, seed: int = 0):
    """Observations, actions and ends of a sequence."""
    rng = np.random.default_rng(seed)
    agents, actions = DEFAULT.num_agents, DEFAULT.num_actions
    return (
        jnp.asarray(rng.normal(size=(length, agents, DEFAULT.observation_size)), jnp.float32),
        jnp.asarray(rng.integers(0, actions, (length, agents)), jnp.int32),
        jnp.asarray(rng.random(length) < 0.3),
    )


ALL_INPUTS = ("observation", "action", "identifier")


@pytest.mark.parametrize("name", ["mlp", "gru"])
@pytest.mark.parametrize("inputs_", [("observation",), ("observation", "identifier"), ALL_INPUTS])
@pytest.mark.parametrize("shared", [True, False])
def test_unrolling_is_step_by_step(name, inputs_, shared):
    encode = encoder(name, inputs=inputs_, shared=shared, encoder_size=6)
    # A carry from the middle of an episode.
    seen, actions, _ = steps(1, seed=1)
    carry = encode.acted(encode(encode.init_carry(), seen[0])[1], actions[0])
    features, after = encode.unroll(carry, *steps(9))
    expected, end = unroll_step_by_step(encode, carry, *steps(9))
    np.testing.assert_allclose(features, expected, rtol=1e-5, atol=1e-6)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), after, end)


def test_a_gru_is_that_of_its_equations():
    encode = encoder("gru", inputs=("observation",), encoder_size=4)
    observation, hidden = np.asarray(inputs().observation), np.full((3, 4), 0.3, np.float32)
    mlp, recurrent = encode.inputs.network.mlp, np.asarray(encode.recurrent)
    (w1, w2), (b1, b2) = (list(map(np.asarray, part)) for part in (mlp.weights, mlp.biases))
    gates = np.maximum(observation @ w1 + b1, 0) @ w2 + b2
    products = hidden @ recurrent
    i_r, i_z, i_n = np.split(gates, 3, axis=1)
    u_r, u_z, u_n = np.split(products, 3, axis=1)
    r, z = (1 / (1 + np.exp(-x)) for x in (i_r + u_r, i_z + u_z))
    m = np.tanh(i_n + r * (u_n + np.asarray(encode.bias)))
    start = eqx.tree_at(lambda c: c.hidden, encode.init_carry(), jnp.asarray(hidden))
    features, carry = encode(start, inputs().observation)
    np.testing.assert_allclose(features, (1 - z) * m + z * hidden, rtol=1e-5)
    np.testing.assert_array_equal(carry.hidden, features)


@pytest.mark.parametrize(("name", "remembers"), [("none", False), ("mlp", False), ("gru", True)])
def test_only_a_carry_is_a_memory(name, remembers):
    assert encoder(name).has_memory == remembers
    if name != "none":
        assert encoder(name, inputs=ALL_INPUTS).has_memory


def test_the_last_action_is_an_input_and_none_at_the_start():
    encode, observation = encoder("mlp", inputs=("observation", "action")), inputs().observation
    start = encode.init_carry()
    at_start, _ = encode(start, observation)
    by_action = [encode(encode.acted(start, jnp.full(3, a)), observation)[0] for a in (0, 1)]
    assert not np.allclose(at_start, by_action[0])
    assert not np.allclose(by_action[0], by_action[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": ("observation", "action")}, "inputs with 'action' need an encoder"),
        ({"encoder": "gru", "inputs": ("action",)}, "inputs must include 'observation'"),
        (
            {"encoder": "gru", "inputs": ("observation", "name")},
            "inputs must be one of observation",
        ),
        ({"encoder": "gruu"}, "encoder must be one of none, mlp, gru, not 'gruu'"),
        ({"encoder": "mlp", "encoder_size": 0}, "encoder_size must be at least 1, not 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        build("pairvdn", spec(num_agents=4), **arguments)
