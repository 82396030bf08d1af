"""Networks: what a group sees, and how parameters are shared."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.values.networks import (
    ACTIVATIONS,
    SLOPES,
    GroupNetwork,
    Mlp,
    bounded,
    normalised,
)

AGENTS, OBSERVATION, OUTPUTS = 4, 3, 5
EDGES = jnp.array([[0, 1], [2, 1], [3, 0]], dtype=jnp.int32)


def network(**arguments):
    sizes = {"num_agents": AGENTS, "feature_size": OBSERVATION, "output_size": OUTPUTS}
    arguments = {"num_groups": 3, "group_size": 2, "hidden_sizes": (8, 6), **arguments}
    return GroupNetwork(**sizes, key=jax.random.key(0), **arguments)


def observation():
    return jax.random.normal(jax.random.key(1), (AGENTS, OBSERVATION))


def plain_mlp(x, weights, biases, activation):
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        x = activation(x @ np.asarray(weight) + np.asarray(bias))
    return x @ np.asarray(weights[-1]) + np.asarray(biases[-1])


def test_shared_network_sees_observations_and_one_hot_identifiers():
    net, seen, one_hot = network(), np.asarray(observation()), np.eye(AGENTS, dtype=np.float32)
    x = np.stack([np.concatenate([seen[i], seen[j], one_hot[i], one_hot[j]]) for i, j in EDGES])
    expected = plain_mlp(x, net.mlp.weights, net.mlp.biases, lambda z: np.maximum(z, 0))
    np.testing.assert_allclose(net(observation(), EDGES), expected, rtol=1e-5, atol=1e-6)


def test_separate_networks_see_observations_only_and_have_their_own_parameters():
    net, seen = network(shared=False), np.asarray(observation())
    for k, (i, j) in enumerate(EDGES):
        own = jax.tree.map(lambda leaf, k=k: leaf[k], (net.mlp.weights, net.mlp.biases))
        expected = plain_mlp(np.concatenate([seen[i], seen[j]]), *own, lambda z: np.maximum(z, 0))
        np.testing.assert_allclose(net(observation(), EDGES)[k], expected, rtol=1e-5, atol=1e-6)


def test_agents_that_see_the_same_differ_only_by_identifier():
    same = jnp.ones((AGENTS, OBSERVATION))
    outputs = network()(same, EDGES)
    assert not np.allclose(outputs[0], outputs[1])
    repeated = network()(same, jnp.array([[0, 1], [0, 1], [1, 0]], dtype=jnp.int32))
    np.testing.assert_array_equal(repeated[0], repeated[1])
    assert not np.allclose(repeated[0], repeated[2])


def test_without_identifiers_a_group_is_what_its_members_see():
    net, seen = network(identifiers=False), np.asarray(observation())
    x = np.stack([np.concatenate([seen[i], seen[j]]) for i, j in EDGES])
    expected = plain_mlp(x, net.mlp.weights, net.mlp.biases, lambda z: np.maximum(z, 0))
    np.testing.assert_allclose(net(observation(), EDGES), expected, rtol=1e-5, atol=1e-6)


@hypothesis.given(
    num_agents=st.integers(1, 5),
    group_size=st.integers(1, 3),
    num_groups=st.sampled_from([1, 7, 12]),
    context_size=st.sampled_from([0, 2]),
    identifiers=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_first_layer_per_agent_is_that_per_group(
    num_agents, group_size, num_groups, context_size, identifiers, seed
):
    keys = jax.random.split(jax.random.key(seed), 4)
    net = GroupNetwork(
        num_agents=num_agents,
        feature_size=OBSERVATION,
        num_groups=num_groups,
        group_size=group_size,
        output_size=OUTPUTS,
        context_size=context_size,
        identifiers=identifiers,
        hidden_sizes=(6,),
        key=keys[0],
    )
    features = jax.random.normal(keys[1], (num_agents, OBSERVATION))
    groups = jax.random.randint(keys[2], (num_groups, group_size), 0, num_agents)
    context = jax.random.normal(keys[3], (num_groups, context_size)) if context_size else None
    slow = net.product_per_group(features, groups, context)
    np.testing.assert_allclose(
        net.product_per_agent(features, groups, context), slow, rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        net(features, groups, context), net.mlp.after_first_product(slow), rtol=1e-5, atol=1e-6
    )


def test_a_dense_graph_multiplies_once_per_agent():
    """Of 6 pairs of 4 agents, the first layer has 4 rows; of a ring of 4 pairs it has 4, too."""

    def rows_of_first_product(groups):
        program = jax.make_jaxpr(network())(observation(), groups)
        found = [eqn.invars[0].aval.shape for eqn in program.eqns if "rows" in str(eqn.primitive)]
        return found[0]

    complete = jnp.stack(jnp.triu_indices(AGENTS, 1), axis=1).astype(jnp.int32)
    assert rows_of_first_product(complete) == (AGENTS, OBSERVATION)
    assert rows_of_first_product(complete[:AGENTS]) == (AGENTS, 2 * OBSERVATION)


@pytest.mark.parametrize("shared", [True, False])
def test_a_batch_gives_what_its_examples_give(shared):
    net = network(shared=shared)
    seen = jax.random.normal(jax.random.key(2), (6, AGENTS, OBSERVATION))
    batched = jax.vmap(net, in_axes=(0, None))(seen, EDGES)
    single = jnp.stack([net(each, EDGES) for each in seen])
    np.testing.assert_allclose(batched, single, rtol=1e-5, atol=1e-6)


def test_leaky_relu():
    net = Mlp(3, 2, hidden_sizes=(4,), activation="leaky_relu", key=jax.random.key(0))
    x = np.asarray(observation())
    expected = plain_mlp(x, net.weights, net.biases, lambda z: np.where(z > 0, z, 0.01 * z))
    np.testing.assert_allclose(net(observation()), expected, rtol=1e-5, atol=1e-6)


def test_layer_norm_makes_the_output_blind_to_the_scale_of_hidden_layers():
    net = Mlp(3, 2, hidden_sizes=(64,), layer_norm=True, key=jax.random.key(0))
    larger = eqx_scaled(net, 100.0)
    x = 3.0 * observation()
    np.testing.assert_allclose(net(x), larger(x), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("activation", ["relu", "leaky_relu"])
@pytest.mark.parametrize("shape", [(5, 7), (3, 5, 7), (0, 7)])
def test_normalised_layers_and_their_gradient_are_those_of_autodiff(activation, shape):
    z = 3.0 + 2.0 * jax.random.normal(jax.random.key(0), shape)
    weights = jax.random.normal(jax.random.key(1), shape)

    def by_hand(z):
        return normalised(z, SLOPES[activation])

    def plain(z):
        return ACTIVATIONS[activation](jax.nn.standardize(z, axis=-1, epsilon=1e-5))

    close = functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5)
    close(by_hand(z), plain(z))
    of_hand, of_plain = (
        jax.grad(lambda z, f=f: (weights * f(z)).sum())(z) for f in (by_hand, plain)
    )
    close(of_hand, of_plain)
    close(jax.vmap(by_hand)(z[None])[0], by_hand(z))


def eqx_scaled(net, factor):
    """The same network with the first layer times `factor`."""
    weights = (factor * net.weights[0], *net.weights[1:])
    biases = (factor * net.biases[0], *net.biases[1:])
    leaves, structure = jax.tree.flatten(net)
    assert len(leaves) == len(weights) + len(biases)
    return jax.tree.unflatten(structure, [*weights, *biases])


def test_final_scale_shrinks_the_first_outputs():
    full = network()(observation(), EDGES)
    np.testing.assert_allclose(
        network(final_scale=0.1)(observation(), EDGES), 0.1 * full, rtol=1e-5, atol=1e-6
    )


def test_bounded_keeps_ordinary_states_and_shrinks_large_ones():
    small, large = jnp.array([0.5, -0.2]), jnp.array([3e3, 4e3])
    np.testing.assert_array_equal(bounded(small), small)
    np.testing.assert_allclose(jnp.mean(bounded(large) ** 2), 1.0, rtol=1e-5)
    np.testing.assert_allclose(bounded(large)[1] / bounded(large)[0], 4 / 3, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"activation": "rellu"}, "activation must be one of relu, leaky_relu, not 'rellu'"),
        ({"hidden_sizes": (8, 0)}, "Layer sizes must be at least 1"),
        ({"final_scale": -1.0}, "final_scale"),
        ({"final_scale": float("nan")}, "final_scale"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        network(**arguments)
