"""Optimisers whose step sizes are inputs: the same steps as optax's own."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pairvdn.config.builders import OPTIMISERS
from pairvdn.learning import DecayingOptimiser, LinearDecay

PARAMETERS = {"weight": jnp.array([1.0, -2.0, 0.5]), "bias": jnp.float32(0.3)}
OF_OPTAX = {"adam": optax.adam, "radam": optax.radam, "sgd": optax.sgd}


def trained(optimiser: optax.GradientTransformation, updates: int, **extra: Any) -> Any:
    """The parameters after so many updates on a quadratic loss."""

    def step(_: Any, carry: Any) -> Any:
        parameters, state = carry
        gradient = jax.grad(
            lambda p: jnp.sum(p["weight"] ** 2) + jnp.sin(p["bias"] + p["weight"][0])
        )(parameters)
        with jax.numpy_dtype_promotion("standard"):
            moves, state = optimiser.update(gradient, state, parameters, **extra)
        return optax.apply_updates(parameters, moves), state

    start = (PARAMETERS, optimiser.init(PARAMETERS))
    return jax.jit(lambda: jax.lax.fori_loop(0, updates, step, start)[0])()


@pytest.mark.parametrize("name", OF_OPTAX)
def test_the_steps_are_those_of_optax(name: str) -> None:
    ours = OPTIMISERS[name](learning_rate=0.1, decay_from=0.25, decay_to=0.1, num_updates=40)
    schedule = optax.linear_schedule(0.1, 0.01, transition_steps=30, transition_begin=10)
    for updates in (5, 25, 60):  # before, while and after the step size falls
        expected = trained(OF_OPTAX[name](schedule), updates)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6),
            trained(ours, updates),
            expected,
        )


def test_a_given_decay_replaces_the_own_one_also_within_a_chain() -> None:
    decay = LinearDecay(0.2, 0.02, 3, 7)
    ours = DecayingOptimiser(optax.scale_by_adam(), LinearDecay(0.1, 0.1, 0, 1))
    other = DecayingOptimiser(optax.scale_by_adam(), decay)
    clipped = [optax.chain(optax.clip_by_global_norm(0.5), one) for one in (ours, other)]
    replaced, expected = trained(clipped[0], 9, decay=decay), trained(clipped[1], 9)
    jax.tree.map(np.testing.assert_array_equal, replaced, expected)
    assert not np.allclose(trained(clipped[0], 9)["weight"], expected["weight"])
