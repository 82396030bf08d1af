"""Methods that find a best joint action of the one-step games: the table of docs/results.

Run `python benchmarks/one_step_games.py`. Every method learns from uniformly random play with the
same number of updates, several seeds at once. Then the greedy joint action of each seed is played.
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import envs, values
from pairvdn.acting import GreedyPolicy, LinearEpsilon
from pairvdn.envs.one_step import OneStepGame, Payoff
from pairvdn.learning import Learner, parallel_learner

# Name in the table -> method and its arguments.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "dcg-divided": ("dcg", {"normalise": True}),
    "dcg-max-plus": ("dcg", {"exact": False}),
    "learned-foes": ("pairvdn-learned", {"counted": "friends-and-foes"}),
    "learned-2": ("pairvdn-learned", {"partners": 2}),
    "learned-all": ("pairvdn-learned", {"partners": 9}),
}
METHODS = (
    "pairvdn",
    "pairvdn-weighted",
    "dcg",
    "dcg-divided",
    "dcg-max-plus",
    "pairvdn-learned",
    "learned-foes",
    "learned-2",
    "learned-all",
    "sop-cg",
    "casec",
    "dqn",
    "vdn",
    "qmix",
    "qplex",
    "iql",
)
SEARCHING = ("dcg-max-plus", "learned", "pairvdn-learned", "sop-cg", "casec")
UPDATES_PER_ROUND, UPDATES = 20, 1200


class OneOf(Payoff):
    """The payoff of one of several games of the same size; the index may be traced."""

    payoffs: tuple[Payoff, ...]
    index: Int32[Array, ""]

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The payoff of the chosen game."""
        return jax.lax.switch(self.index, self.payoffs, actions)


def game(name: str, **arguments: Any) -> tuple[str, OneStepGame]:
    """The name of a game in the table, and the game."""
    listed = ", ".join(f"{key}={value:g}" for key, value in arguments.items())
    env = envs.make(name, **arguments)
    assert isinstance(env, OneStepGame)
    return f"{name}({listed})" if listed else name, env


def all_games() -> dict[str, OneStepGame]:
    """The games that are sums over the pairs of a ring; the wall only with two agents."""
    return dict(
        [
            game("climbing"),
            *(game("penalty", k=k) for k in (-25.0, -50.0, -100.0)),
            game("qtran"),
            *(game("crossroads", num_agents=n) for n in range(2, 7)),
            game("ring-game"),
            game("wall"),
            game("wall-graded"),
        ]
    )


def games_beyond_rings() -> dict[str, OneStepGame]:
    """Games whose payoff is not a sum over neighbours on a ring."""
    return dict(
        [
            *(game("crossroads-all", num_agents=n) for n in (4, 5, 6)),
            *(game("wall", num_agents=n) for n in (3, 4)),
        ]
    )


def by_size(games: dict[str, OneStepGame]) -> list[dict[str, OneStepGame]]:
    """Games grouped by size: each group is trained in one compiled function."""
    groups: dict[tuple[int, int], dict[str, OneStepGame]] = {}
    for label, env in games.items():
        groups.setdefault((env.num_agents, env.num_actions), {})[label] = env
    return list(groups.values())


def learner_of(env: OneStepGame, method: str, updates: int = UPDATES) -> Learner:
    """A learner on uniformly random play, so that every method sees the same data."""
    name, arguments = VARIANTS.get(method, (method, {}))
    return parallel_learner(
        env,
        values.maker(name, env.spec, hidden_sizes=(32, 32), **arguments),
        num_epochs=1,
        rounds_per_epoch=updates // UPDATES_PER_ROUND,
        num_envs=32,
        agent_steps_per_round=4,
        updates_per_round=UPDATES_PER_ROUND,
        replay_capacity=8_192,
        batch_size=64,
        n_step=1,
        loss="squared",
        gradient_clip=None,
        optimiser=optax.adam(optax.linear_schedule(3e-3, 1e-4, updates)),
        exploration=LinearEpsilon(1.0, 1.0),
    )


def learned_rewards(
    games: dict[str, OneStepGame], method: str, seeds: int, updates: int = UPDATES
) -> dict[str, Float[np.ndarray, " seeds"]]:
    """The payoff of the greedy joint action after learning, for each game and seed."""
    payoffs = tuple(env.payoff for env in games.values())
    example = next(iter(games.values()))

    def play(index: Int32[Array, ""], key: Array) -> Float[Array, ""]:
        env = OneStepGame(
            "one of several",
            example.num_agents,
            example.num_actions,
            OneOf(payoffs, index),
            best_reward=np.nan,
        )
        learner = learner_of(env, method, updates)
        state, _ = learner.train(key)
        env_state, timestep = env.reset(key)
        policy = GreedyPolicy(env, learner.value(state))
        actions, _ = policy.act(key, policy.init(key), timestep)
        return env.step(key, env_state, actions)[1].reward

    every = jax.vmap(jax.vmap(play, in_axes=(None, 0)), in_axes=(0, None))
    # Compilation takes longer than the run, so optimisation is off; but not in long runs.
    long = updates > UPDATES or method.startswith(SEARCHING)
    options = {} if long else {"xla_backend_optimization_level": 0}
    rewards = jax.jit(every, compiler_options=options)(
        jnp.arange(len(games), dtype=jnp.int32), jax.random.split(jax.random.PRNGKey(0), seeds)
    )
    return dict(zip(games, np.asarray(rewards), strict=True))


def is_best(rewards: Float[np.ndarray, " seeds"], best: float) -> Bool[np.ndarray, " seeds"]:
    """Whether each seed found a best joint action."""
    return rewards > best - 1e-3


def cell(rewards: Float[np.ndarray, " seeds"], best: float) -> str:
    """The number of seeds with a best joint action, and the rewards of the others."""
    right = is_best(rewards, best)
    others = sorted({f"{reward:g}" for reward in rewards[~right]})
    return f"{right.sum()} of {len(rewards)}" + (f" (else {', '.join(others)})" if others else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--methods", nargs="+", default=METHODS, choices=(*values.names(), *VARIANTS)
    )
    parser.add_argument("--games", nargs="+", default=[""], help="games whose names start so")
    parser.add_argument("--updates", type=int, default=UPDATES)
    arguments = parser.parse_args()

    games = all_games() | games_beyond_rings()
    wanted = {k: v for k, v in games.items() if k.startswith(tuple(arguments.games))}
    print("| game | best | " + " | ".join(arguments.methods) + " |")
    print("|---|---|" + "---|" * len(arguments.methods))
    for group in by_size(wanted):
        columns = [
            learned_rewards(group, method, arguments.seeds, arguments.updates)
            for method in arguments.methods
        ]
        for label, env in group.items():
            cells = [cell(column[label], env.best_reward) for column in columns]
            print(f"| {label} | {env.best_reward:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
