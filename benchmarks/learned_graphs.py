"""How good the maxima of `pairvdn-learned` are: random and trained tables, all joint actions tried.

    python benchmarks/learned_graphs.py

`exact`: the share of states in which the greedy joint action is a best one. `gap`: the mean loss of
value, relative to the best less the mean value of all joint actions. `bound`: the mean distance of
the upper bound from the best value, on the same scale. `starts only` leaves the sweeps out.
"""

import argparse
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pairvdn import envs, values
from pairvdn.acting import LinearEpsilon
from pairvdn.acting.policy import tables as tables_of
from pairvdn.learning import parallel_learner
from pairvdn.maximise.partners import best_partners
from pairvdn.types import EnvSpec
from pairvdn.values.all_pairs import AllPairs, allowed_only


class Quality(NamedTuple):
    """The columns of the table."""

    exact: float
    gap: float
    bound: float


def random_tables(n: int, a: int, states: int, seed: int) -> AllPairs:
    """Symmetric tables and utilities of independent normal numbers."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(states, n, n, a, a)).astype(np.float32)
    payoffs = np.where(np.triu(np.ones((n, n), bool), 1)[..., None, None], half, 0)
    payoffs = payoffs + payoffs.transpose(0, 2, 1, 4, 3)
    utilities = rng.normal(size=(states, n, a)).astype(np.float32)
    return jax.vmap(AllPairs)(jnp.asarray(utilities), jnp.asarray(payoffs))


def quality(
    tables: AllPairs, mask: jax.Array | None = None, *, sweeps: int = 2, **arguments: Any
) -> Quality:
    """Compare the greedy joint actions for these tables with all joint actions."""
    states, n, a = tables.utilities.shape
    mask = jnp.ones((states, n, a), bool) if mask is None else mask
    spec = EnvSpec(n, a, observation_size=1, state_size=1)
    value = values.make("pairvdn-learned", spec, key=jax.random.key(0), **arguments)
    joint = jnp.asarray(np.indices((a,) * n).reshape(n, -1).T, jnp.int32)

    def greedy(tables: AllPairs, mask: jax.Array) -> jax.Array:
        if sweeps == 2:
            return value.greedy(tables, mask)[0]
        clean = allowed_only(tables, mask)
        return best_partners(clean.payoffs, clean.utilities, mask, sweeps=sweeps)

    def one(example: tuple[AllPairs, jax.Array]) -> tuple[jax.Array, ...]:
        tables, mask = example
        every = jax.lax.map(
            lambda actions: jnp.where(
                jnp.take_along_axis(mask, actions[:, None], axis=1).all(),
                value.evaluate(tables, actions)[0],
                jnp.nan,
            ),
            joint,
            batch_size=4096,
        )
        found = value.evaluate(tables, greedy(tables, mask))[0]
        return jnp.nanmax(every), jnp.nanmean(every), found, value.bound(tables, mask)

    best, mean, found, bound = map(
        np.asarray, jax.jit(lambda x: jax.lax.map(one, x))((tables, mask))
    )
    span = best - mean
    return Quality(
        float(np.isclose(found, best, rtol=1e-5, atol=1e-5).mean()),
        float(((best - found) / span).mean()),
        float(((bound - best) / span).mean()),
    )


def trained_tables(states: int, updates: int) -> tuple[AllPairs, jax.Array]:
    """The tables of a value trained on predator-prey, in states of half-random play."""
    env = envs.make("predator-prey", num_predators=5, num_prey=4, size=7, penalty=-2.0)
    rounds = 50
    learner = parallel_learner(
        env,
        values.maker("pairvdn-learned", env.spec, hidden_sizes=(64, 64)),
        num_epochs=1,
        rounds_per_epoch=rounds,
        num_envs=32,
        agent_steps_per_round=4,
        updates_per_round=updates // rounds,
        replay_capacity=16_384,
        batch_size=64,
        loss="squared",
        exploration=LinearEpsilon(0.5, 0.5),
    )
    state, _ = jax.jit(learner.train)(jax.random.key(0))
    value, items = learner.value(state), state.replay.items
    rows = slice(0, states)
    tables = jax.vmap(lambda o, s: tables_of(env, value, o, s))(
        items.observation_t[rows], items.state_t[rows]
    )
    return tables, items.mask_t[rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--updates", type=int, default=2000)
    arguments = parser.parse_args()
    print("| tables | n | a | counted | exact | gap | bound above | exact, starts only |")
    print("|---|---|---|---|---|---|---|---|")

    def row(name: str, tables: AllPairs, mask: jax.Array | None = None, **variant: Any) -> None:
        n, a = tables.utilities.shape[1:]
        full, bare = quality(tables, mask, **variant), None
        if not variant:
            bare = quality(tables, mask, sweeps=0)
        counted = ", ".join(map(str, variant.values())) or "best"
        starts = "" if bare is None else f"{bare.exact:.0%}"
        print(
            f"| {name} | {n} | {a} | {counted} | {full.exact:.0%} | {full.gap:.2%} "
            f"| {full.bound:.0%} | {starts} |",
            flush=True,
        )

    for n, a in ((3, 3), (4, 4), (5, 5), (8, 3)):
        row("random", random_tables(n, a, arguments.states, seed=n))
    row("random", random_tables(5, 5, arguments.states, seed=5), counted="friends-and-foes")
    row("random", random_tables(5, 5, arguments.states, seed=5), partners=2)
    tables, mask = trained_tables(arguments.states, arguments.updates)
    row("trained on predator-prey", tables, mask)


if __name__ == "__main__":
    main()
