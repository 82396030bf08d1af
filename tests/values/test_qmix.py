"""QMIX: monotonic in every utility, and a sound start."""

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis.extra.numpy import arrays
from value_examples import build, inputs

from pairvdn.values.qmix import HyperMixer

PAPER = {"mixing_size": 16, "mixing_activation": "relu", "bounded_state": False}
forms = pytest.mark.parametrize("arguments", [{}, PAPER], ids=["default", "paper"])
moderate = st.floats(-100, 100, width=32)


def mixer(num_agents=4, state_size=6, **arguments):
    arguments = {
        "mixing_size": 32,
        "mixing_activation": "elu",
        "bounded_state": True,
        **arguments,
    }
    return HyperMixer(
        num_agents=num_agents, state_size=state_size, key=jax.random.key(0), **arguments
    )


@pytest.fixture(scope="module", params=[{}, PAPER], ids=["default", "paper"])
def mix(request):
    """The joint value of utilities in a state, compiled once."""
    hyper = mixer(**request.param)
    return jax.jit(lambda state, utilities: hyper(state)(utilities))


@hypothesis.given(
    state=arrays(np.float32, 6, elements=moderate),
    utilities=arrays(np.float32, 4, elements=moderate),
    agent=st.integers(0, 3),
    more=st.floats(0, 100, width=32),
)
def test_never_decreases_in_any_utility(mix, state, utilities, agent, more):
    raised = utilities.copy()
    raised[agent] += np.float32(more)
    before, after = mix(state, utilities), mix(state, raised)
    assert after >= before - 1e-4 * (1 + abs(before))


@forms
@pytest.mark.parametrize("num_agents", [2, 16])
def test_generated_weights_have_the_variance_of_their_fan_in(arguments, num_agents):
    """arXiv 2312.08399: 1/inputs for a state whose numbers have mean square 1."""
    hyper = mixer(num_agents, state_size=200, **{**arguments, "mixing_size": 64})
    states = jax.random.rademacher(jax.random.key(1), (50, 200), dtype=jnp.float32)
    mixers = jax.vmap(hyper)(states)
    np.testing.assert_allclose(jnp.mean(mixers.weight_1**2), 1 / num_agents, rtol=0.15)
    np.testing.assert_allclose(jnp.mean(mixers.weight_2**2), 1 / 64, rtol=0.3)


def test_the_default_is_sound_for_large_states_and_for_none():
    """A state far out of range changes nothing but its direction; one of zeros still learns."""
    value, observed = build("qmix"), inputs()
    actions = jnp.array([0, 1, 2], dtype=jnp.int32)

    def worth(value, scale):
        tables = value.tables(observed.observation, scale * observed.state)
        return value.evaluate(tables, actions)[0]

    np.testing.assert_allclose(worth(value, 1e3), worth(value, 1e6), rtol=1e-4)
    for scale in (0.0, 1e6):
        gradient = eqx.filter_grad(worth)(value, scale)
        assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))
        size = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(gradient.hyper))
        assert 0 < size < 10
        assert (gradient.agents.head.network.mlp.weights[0] != 0).any()


def test_tables_of_the_paper_follow_its_formula():
    value, observed = build("qmix", **PAPER), inputs()
    hyper, s = value.hyper, np.asarray(observed.state)
    actions = np.array([2, 0, 1])
    tables = value.tables(*observed)
    q = np.asarray(tables.utilities)[np.arange(3), actions]

    def generated(layer):
        return s @ np.asarray(layer.weight) + np.asarray(layer.bias)

    hidden = q @ np.abs(generated(hyper.weight_1).reshape(3, 16)) + generated(hyper.bias_1)
    final = hyper.bias_2(observed.state[None])[0, 0]
    expected = np.maximum(hidden, 0) @ np.abs(generated(hyper.weight_2)) + final
    found = value.evaluate(tables, jnp.asarray(actions, dtype=jnp.int32))
    np.testing.assert_allclose(found[0], expected, rtol=1e-4)
