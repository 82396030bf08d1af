"""Learning on environments whose values are known: the first that fails says where the bug is."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from gate import first
from jaxtyping import Array, Float
from probes import Probe, make_tabular, quick_jit

from pairvdn.acting import LinearEpsilon
from pairvdn.learning import paper_learner, parallel_learner, pqn_learner
from pairvdn.learning.targets import rescaled

UNIFORM = LinearEpsilon(1.0, 1.0)
PAYOFF = jnp.array([[1.0, -2.0], [0.5, 3.0]])


def constant() -> tuple[Probe, Float[Array, "seen 2 2"]]:
    """One step that always pays 1: the loss and the optimiser."""
    return Probe(jnp.ones((1, 2, 2)), length=1), jnp.ones((1, 2, 2))


def observation_dependent() -> tuple[Probe, Float[Array, "seen 2 2"]]:
    """One step that pays 1 or -1 by what is seen: observations reach the value."""
    rewards = jnp.broadcast_to(jnp.array([1.0, -1.0])[:, None, None], (2, 2, 2))
    return Probe(rewards, length=1), rewards


def two_step() -> tuple[Probe, Float[Array, "seen 2 2"]]:
    """Only the second of two steps pays, 1: discounting and bootstrapping."""
    rewards = jnp.broadcast_to(jnp.array([0.0, 1.0])[:, None, None], (2, 2, 2))
    values = jnp.broadcast_to(jnp.array([0.5, 1.0])[:, None, None], (2, 2, 2))
    return Probe(rewards, length=2, drift=1), values


def action_dependent() -> tuple[Probe, Float[Array, "seen 2 2"]]:
    """One step that pays by what both do: joint actions reach the value."""
    return Probe(PAYOFF[None], length=1), PAYOFF[None]


def two_choices() -> tuple[Probe, Float[Array, "seen 2 2"]]:
    """Two steps that pay by what both do: the maximum is bootstrapped, not the mean."""
    rewards = jnp.stack([PAYOFF, 2 * PAYOFF])
    return Probe(rewards, length=2, drift=1), jnp.stack([PAYOFF + 0.5 * 6, 2 * PAYOFF])


def cut_short() -> tuple[Probe, Float[Array, "seen 2 2"]]:
    """Pays 1 for ever and is truncated after 3 steps: 1 / (1 - 0.5) = 2 and not less."""
    rewards = jnp.ones((2, 2, 2))
    return Probe(rewards, length=3, drift=1, truncates=True), 2 * rewards


PROBES = [constant, observation_dependent, two_step, action_dependent, two_choices, cut_short]


# The harder probes need what the easier ones show; these say where a bug is.
@pytest.mark.parametrize("probe", first(2, [two_choices, cut_short, *PROBES[:-2]]))
def test_paper_schedule_learns_the_values(probe: Any) -> None:
    env, values = probe()
    learner = paper_learner(
        env,
        make_tabular(env),
        num_epochs=30,
        steps_per_epoch=20,
        random_steps=200,
        replay_capacity=500,
        discount=0.5,
        target_average=0.9,
        optimiser=optax.sgd(0.2),
        exploration=UNIFORM,
    )
    state, _ = quick_jit(learner.train)(jax.random.key(0))
    assert float(jnp.abs(state.learned.value.weights - values).max()) < 0.1


# Windows of several decisions learn the value of the policy that filled them, not of the best one,
# so they are right where actions do not matter.
@pytest.mark.parametrize(
    ("probe", "arguments"),
    first(
        2,
        [
            (cut_short, {"n_step": 2, "loss": "huber"}),
            (two_choices, {"n_step": 1, "double_q": True}),
            (two_choices, {"n_step": 1, "target_period": 20}),
            (two_step, {"n_step": 3}),
        ],
    ),
)
def test_parallel_schedule_learns_the_values(probe: Any, arguments: dict[str, Any]) -> None:
    env, values = probe()
    learner = parallel_learner(
        env,
        make_tabular(env),
        num_epochs=10,
        num_envs=4,
        replay_capacity=2_000,
        batch_size=32,
        discount=0.5,
        optimiser=optax.adam(0.01),
        exploration=UNIFORM,
        **arguments,
    )
    state, _ = quick_jit(learner.train)(jax.random.key(0))
    assert float(jnp.abs(state.learned.value.weights - values).max()) < 0.1


# With uniform actions λ-returns learn the value of uniform actions, like windows; λ = 0 does not.
@pytest.mark.parametrize(
    ("probe", "trace_decay"), first(2, [(cut_short, 0.5), (two_choices, 0.0), (two_step, 0.9)])
)
def test_pqn_learns_the_values_without_replay_and_target(probe: Any, trace_decay: float) -> None:
    env, values = probe()
    learner = pqn_learner(
        env,
        make_tabular(env),
        num_epochs=10,
        num_envs=16,
        agent_steps_per_round=8,
        batch_size=32,
        discount=0.5,
        trace_decay=trace_decay,
        optimiser=optax.adam(0.03),
        exploration=UNIFORM,
    )
    state, _ = quick_jit(learner.train)(jax.random.key(0))
    assert float(jnp.abs(state.learned.value.weights - values).max()) < 0.1


@pytest.mark.parametrize("probe", first(1, [two_choices, cut_short]))
def test_rescaled_values_are_learned_in_their_own_scale(probe: Any) -> None:
    env, values = probe()
    learner = parallel_learner(
        env,
        make_tabular(env),
        num_epochs=10,
        num_envs=4,
        replay_capacity=2_000,
        batch_size=32,
        discount=0.5,
        n_step=1,
        rescale_values=True,
        optimiser=optax.adam(0.01),
        exploration=UNIFORM,
    )
    state, _ = quick_jit(learner.train)(jax.random.key(0))
    assert float(jnp.abs(state.learned.value.weights - rescaled(values)).max()) < 0.1


def test_held_actions_learn_the_value_of_holding() -> None:
    """Two steps in one decision: 0 then 1 at discount 0.5 is worth 0.5 at the start."""
    env, _ = two_step()
    learner = parallel_learner(
        env,
        make_tabular(env),
        num_epochs=5,
        num_envs=4,
        replay_capacity=2_000,
        batch_size=32,
        action_repeat=2,
        discount=0.5,
        optimiser=optax.adam(0.01),
        exploration=UNIFORM,
    )
    state, metrics = quick_jit(learner.train)(jax.random.key(0))
    assert float(jnp.abs(state.learned.value.weights[0] - 0.5).max()) < 0.1
    assert metrics.mean_return.tolist() == [1.0] * 5
