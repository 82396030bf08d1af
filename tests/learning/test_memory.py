"""Memory probes: with a memory the optimum is reached, without one the team stays at chance."""

from typing import Any

import jax
import optax
import pytest
from gate import first
from probes import quick_jit

from pairvdn import envs, values
from pairvdn.acting import LinearEpsilon
from pairvdn.evaluation import play_greedy
from pairvdn.learning import Learner, parallel_learner, pqn_learner

KEY = jax.random.PRNGKey(0)
COMMON = {
    "num_envs": 32,
    "discount": 0.95,
    "optimiser": optax.adam(3e-3),
    "exploration": LinearEpsilon(1.0, 0.1, epochs=6),
}


def with_sequences(env: Any, make: Any, **changes: Any) -> Learner:
    """The parallel schedule, which chooses sequences if the value has memory."""
    arguments = {
        "num_epochs": 8,
        "rounds_per_epoch": 12,
        "agent_steps_per_round": 10,
        "updates_per_round": 10,
        "random_agent_steps": 20,
        "replay_capacity": 20_000,
        "batch_size": 320,
        "n_step": 3,
        "target_period": 40,
    }
    return parallel_learner(env, make, **(COMMON | arguments | changes))


def without_replay(env: Any, make: Any, **changes: Any) -> Learner:
    arguments = {
        "num_epochs": 8,
        "rounds_per_epoch": 10,
        "agent_steps_per_round": 12,
        "passes_per_round": 4,
        "batch_size": 96,
        "trace_decay": 0.9,
    }
    return pqn_learner(env, make, **(COMMON | arguments | changes))


def greedy_return(build: Any, env: Any, method: str, **arguments: Any) -> float:
    """The mean return of the greedy team after some seconds of training."""
    changes = arguments.pop("learner", {})
    network = {"hidden_sizes": (32,), "layer_norm": True, **arguments}
    learner = build(env, values.maker(method, env.spec, **network), **changes)
    state, _ = quick_jit(learner.train)(KEY)
    return float(play_greedy(env, learner.value(state), episodes=64, seed=1).returns.mean())


@pytest.mark.parametrize(
    ("build", "method"),
    first(2, [(with_sequences, "vdn"), (without_replay, "pairvdn"), (without_replay, "vdn")]),
)
def test_a_gru_remembers_the_cue(build: Any, method: str) -> None:
    env = envs.make("t-maze", corridor=4)
    assert greedy_return(build, env, method, encoder="gru", encoder_size=32) == 1.0


@pytest.mark.parametrize(
    ("build", "encoder"),
    first(1, [(without_replay, "mlp"), (with_sequences, "none"), (without_replay, "none")]),
)
def test_without_memory_the_team_stays_at_chance(build: Any, encoder: str) -> None:
    """The best it can do is always to turn the same way: 0 on average, ± 0.125 in 64 episodes."""
    env = envs.make("t-maze", corridor=4)
    assert greedy_return(build, env, "vdn", encoder=encoder, encoder_size=32) < 0.4


@pytest.mark.slow
def test_a_pair_also_agrees_when_to_turn() -> None:
    env = envs.make("t-maze", corridor=3, waiting=2)
    assert greedy_return(without_replay, env, "pairvdn", encoder="gru", encoder_size=32) == 1.0
