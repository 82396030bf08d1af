"""Which methods find a best joint action of the one-step games: the table of docs/results.

Run `python benchmarks/one_step_games.py`. Every method learns from uniformly random play, the same
number of updates, several seeds at once; then the greedy joint action of each seed is played.
"""

import argparse
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from pairvdn import envs, values
from pairvdn.envs.one_step.env import OneStepGame
from pairvdn.learning import LinearEpsilon, parallel_learner
from pairvdn.learning.policy import greedy_actions

METHODS = ("pairvdn", "vdn", "qmix", "iql")


@dataclasses.dataclass(frozen=True)
class Game:
    """A game with its arguments, and how the table calls it."""

    label: str
    env: OneStepGame


def game(name: str, **arguments: Any) -> Game:
    listed = ", ".join(f"{key}={value}" for key, value in arguments.items())
    env = envs.make(name, **arguments)
    assert isinstance(env, OneStepGame)
    return Game(f"{name}({listed})" if listed else name, env)


def all_games() -> list[Game]:
    return [
        game("climbing"),
        *(game("penalty", k=k) for k in (-25.0, -50.0, -100.0)),
        game("qtran"),
        *(game("crossroads", num_agents=n) for n in range(2, 7)),
        game("ring-game"),
        game("wall"),
        game("wall-graded"),
    ]


def learned_rewards(env: OneStepGame, method: str, seeds: int) -> Float[Array, " seeds"]:
    """What the greedy joint action pays after learning, for each seed."""

    def make_value(*, key: Any) -> values.Value[Any]:
        return values.make(
            method,
            num_agents=env.num_agents,
            num_actions=env.num_actions,
            observation_size=env.observation_size,
            state_size=env.state_size,
            hidden_sizes=(32, 32),
            key=key,
        )

    learner = parallel_learner(
        env,
        make_value,
        num_epochs=1,
        rounds_per_epoch=100,
        num_envs=32,
        decisions_per_round=4,
        updates_per_round=30,
        replay_capacity=8_192,
        batch_size=128,
        n_step=1,
        loss="squared",
        gradient_clip=None,
        optimiser=optax.adam(optax.linear_schedule(3e-3, 1e-4, 3_000)),
        exploration=LinearEpsilon(1.0, 1.0),
    )

    def play(key: Array) -> Float[Array, ""]:
        state, _ = learner.train(key)
        env_state, timestep = env.reset(key)
        actions = greedy_actions(env, learner.value(state), timestep)
        return env.step(key, env_state, actions)[1].reward

    keys = jax.random.split(jax.random.PRNGKey(0), seeds)
    return jax.jit(jax.vmap(play))(keys)


def cell(rewards: Float[Array, " seeds"], best: float) -> str:
    """How many seeds are right, and what the others got."""
    right = int(jnp.sum(rewards > best - 1e-3))
    others = sorted({f"{float(reward):g}" for reward in rewards if reward <= best - 1e-3})
    return f"{right} of {len(rewards)}" + (f" (else {', '.join(others)})" if others else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=values.names())
    arguments = parser.parse_args()
    print("| game | best | " + " | ".join(arguments.methods) + " |")
    print("|---|---|" + "---|" * len(arguments.methods))
    for one in all_games():
        best = one.env.best_reward
        cells = [
            cell(learned_rewards(one.env, method, arguments.seeds), best)
            for method in arguments.methods
        ]
        print(f"| {one.label} | {best:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
