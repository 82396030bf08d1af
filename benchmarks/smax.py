"""SMAX: our recurrent values with PQN beside JaxMARL's recurrent PQN-VDN, rebuilt from its recipe.

JaxMARL's package does not include its training scripts, so `Recipe` is a short program of our own,
modelled on them (baselines/QLearning: pqn_vdn_rnn.py with pqn_vdn_rnn_smax.yaml): 128 environments,
128 steps a round and the 4 before them, two dense layers of 512 units and a GRU of 512, batch
normalisation, λ 0.85, discount 0.99, rewards times 10, 4 passes of 16 minibatches over
environments, RAdam 2.5e-4 falling to 0, gradients clipped to 1, epsilon 1 to 0.01 over the first
tenth. An episode that ends, for any reason, is not bootstrapped, as in theirs.

Ours are the preset `jaxmarl:HeuristicEnemySMAX/smax` with each method. Both play the same adapted
environment; a win is an episode whose last reward is at least 1, as in JaxMARL. Every row is saved
while it trains and resumed by the same command; finished rows are skipped. It needs
`pip install 'pairvdn[jaxmarl]'`.

    python benchmarks/smax.py --out runs/smax [--maps 3m 2s3z] [--steps 2000000] [--width 512]
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from pairvdn.acting import GreedyPolicy, Observer, Policy, rollout
from pairvdn.config import Config, load_preset
from pairvdn.runs import load, read_metrics, resume, train
from pairvdn.runs.versions import software

ENVIRONMENTS, STEPS, WINDOW, PASSES, MINIBATCHES = 128, 128, 4, 4, 16
DISCOUNT, TRACE, SCALE, RATE, CLIP = 0.99, 0.85, 10.0, 2.5e-4, 1.0
ENV = "jaxmarl:HeuristicEnemySMAX"
Tree = Any


class Gru(nn.Module):
    """`flax.linen.GRUCell` over time; the inputs of all steps are one product, as are the gates."""

    width: int

    @nn.compact
    def __call__(self, hidden: Any, x: Any, fresh: Any) -> Any:
        """The last hidden state and all of them; `fresh` rows start with an empty one."""
        inputs = nn.Dense(3 * self.width)(x)
        gate = partial(nn.initializers.orthogonal(), shape=(self.width, self.width))
        weights = self.param(
            "recurrent",
            lambda key: jnp.concatenate([gate(part) for part in jax.random.split(key, 3)], axis=1),
        )
        bias = self.param("bias", nn.initializers.zeros, (self.width,))

        def step(hidden: Any, now: Any) -> Any:
            inputs, fresh = now
            hidden = jnp.where(fresh[:, None], 0.0, hidden)
            x_reset, x_update, x_new = jnp.split(inputs, 3, axis=1)
            h_reset, h_update, h_new = jnp.split(hidden @ weights, 3, axis=1)
            reset, update = nn.sigmoid(x_reset + h_reset), nn.sigmoid(x_update + h_update)
            new = nn.tanh(x_new + reset * (h_new + bias))
            hidden = (1 - update) * new + update * hidden
            return hidden, hidden

        return jax.lax.scan(step, hidden, (inputs, fresh))


class Network(nn.Module):
    """Utilities of agents from their histories; [time, rows, inputs], from a hidden state."""

    num_actions: int
    width: int

    @nn.compact
    def __call__(self, hidden: Any, seen: Any, fresh: Any, learns: bool) -> Any:
        """The last hidden state and the utilities; `fresh` rows start with an empty one."""
        normalise = partial(nn.BatchNorm, use_running_average=not learns)
        x = normalise()(seen)
        for _ in range(2):
            x = nn.relu(normalise()(nn.Dense(self.width)(x)))
        hidden, x = Gru(self.width)(hidden, x, fresh)
        return hidden, nn.Dense(self.num_actions)(x)


class Step(NamedTuple):
    """One step of all environments."""

    hidden: Any  # before it
    seen: Any
    fresh: Any
    mask: Any
    actions: Any
    reward: Any
    ended: Any


class Recipe:
    """JaxMARL's recurrent PQN-VDN; the state is a tree of arrays."""

    def __init__(self, env: Any, *, steps: int, width: int) -> None:
        self.env, self.width = env, width
        self.network = Network(env.num_actions, width)
        self.rounds = max(1, steps // (ENVIRONMENTS * STEPS))
        updates = self.rounds * PASSES * MINIBATCHES
        self.optimiser = optax.chain(
            optax.clip_by_global_norm(CLIP),
            optax.radam(optax.linear_schedule(RATE, 1e-10, updates)),
        )

    def inputs(self, observation: Any) -> Any:
        """[..., n, o] with identifiers, as rows [time, rows, inputs]."""
        n = self.env.num_agents
        names = jnp.broadcast_to(jnp.eye(n), (*observation.shape[:-1], n))
        x = jnp.concatenate([observation, names], axis=-1)
        return x.reshape(x.shape[0], -1, x.shape[-1])

    def init(self, key: Any) -> Tree:
        """Parameters, statistics, optimiser, environments, and a first window."""
        key, reset_key, network_key, play_key = jax.random.split(key, 4)
        env_state, told = jax.vmap(self.env.reset)(jax.random.split(reset_key, ENVIRONMENTS))
        hidden = jnp.zeros((ENVIRONMENTS * self.env.num_agents, self.width))
        fresh = jnp.ones(ENVIRONMENTS, bool)
        seen = self.inputs(told.observation[None])
        variables = self.network.init(network_key, hidden, seen, self.rows(fresh)[None], False)
        stream = (env_state, told, hidden, fresh)
        # The first window is played at random: one of zeros would allow no action.
        stream, window = self.play(variables, stream, jnp.float32(1), play_key, WINDOW)
        slopes = self.optimiser.init(variables["params"])
        return variables, slopes, stream, window, key, jnp.int32(0)

    def rows(self, per_env: Any) -> Any:
        """[..., envs] repeated for every agent."""
        return jnp.repeat(per_env, self.env.num_agents, axis=-1)

    def play(self, variables: Any, stream: Any, epsilon: Any, key: Any, length: int) -> Any:
        """So many steps of all environments."""

        def step(stream: Any, key: Any) -> Any:
            env_state, told, hidden, fresh = stream
            seen = self.inputs(told.observation[None])
            after, values = self.network.apply(
                variables, hidden, seen, self.rows(fresh)[None], False
            )
            values = values.reshape(*told.mask.shape)
            when, which, step_key, reset_key = jax.random.split(key, 4)
            greedy = jnp.argmax(jnp.where(told.mask, values, -jnp.inf), axis=-1)
            draws = jnp.where(told.mask, jax.random.uniform(which, told.mask.shape), -1.0)
            wild = jax.random.uniform(when, greedy.shape) < epsilon
            actions = jnp.where(wild, jnp.argmax(draws, axis=-1), greedy).astype(jnp.int32)
            keys = jax.random.split(step_key, ENVIRONMENTS)
            new_state, new = jax.vmap(self.env.step)(keys, env_state, actions)
            ended = new.terminated | new.truncated
            taken = Step(hidden, told.observation, fresh, told.mask, actions, new.reward, ended)
            resets = jax.vmap(self.env.reset)(jax.random.split(reset_key, ENVIRONMENTS))
            new_state, new = jax.vmap(optax.tree.where)(ended, resets, (new_state, new))
            return (new_state, new, after, ended), taken

        return jax.lax.scan(step, stream, jax.random.split(key, length))

    def loss(self, params: Any, statistics: Any, batch: Step) -> Any:
        """Mean squared error of the summed utilities to λ-returns of the same network."""
        variables = {"params": params, "batch_stats": statistics}
        hidden = batch.hidden[0].reshape(-1, self.width)
        (_, values), changed = self.network.apply(
            variables, hidden, self.inputs(batch.seen), self.rows(batch.fresh), True,
            mutable=["batch_stats"],
        )  # fmt: skip
        values = values.reshape(*batch.mask.shape)
        best = jnp.max(jnp.where(batch.mask, values, -jnp.inf), axis=-1).sum(axis=-1)
        best = jax.lax.stop_gradient(best)
        going = DISCOUNT * (1.0 - batch.ended[:-1])

        def backup(following: Any, step: Any) -> Any:
            reward, going, after = step
            target = reward + going * ((1 - TRACE) * after + TRACE * following)
            return target, target

        steps = (SCALE * batch.reward[:-1], going, best[1:])
        _, targets = jax.lax.scan(backup, best[-1], steps, reverse=True)
        chosen = jnp.take_along_axis(values, batch.actions[..., None], axis=-1)[..., 0]
        error = chosen.sum(axis=-1)[:-1] - targets
        return jnp.mean(error**2), changed["batch_stats"]

    def round(self, state: Tree) -> Tree:
        """Play, then update on minibatches of environments."""
        variables, slopes, stream, window, key, number = state
        key, play_key, learn_key = jax.random.split(key, 3)
        progress = number.astype(jnp.float32) / max(1.0, 0.1 * self.rounds)
        epsilon = jnp.maximum(0.01, 1.0 - 0.99 * progress)
        stream, steps = self.play(variables, stream, epsilon, play_key, STEPS)
        steps = jax.tree.map(lambda *parts: jnp.concatenate(parts), window, steps)
        # [time, envs, ...]; hidden states have a row for every agent.
        steps = steps._replace(hidden=steps.hidden.reshape(len(steps.reward), ENVIRONMENTS, -1))

        def update(carry: Any, rows: Any) -> Any:
            variables, slopes = carry
            batch = jax.tree.map(lambda leaf: leaf[:, rows], steps)
            gradient, statistics = jax.grad(self.loss, has_aux=True)(
                variables["params"], variables["batch_stats"], batch
            )
            moves, slopes = self.optimiser.update(gradient, slopes, variables["params"])
            params = optax.apply_updates(variables["params"], moves)
            return ({"params": params, "batch_stats": statistics}, slopes), None

        orders = jax.vmap(lambda key: jax.random.permutation(key, ENVIRONMENTS))(
            jax.random.split(learn_key, PASSES)
        )
        (variables, slopes), _ = jax.lax.scan(
            update, (variables, slopes), orders.reshape(PASSES * MINIBATCHES, -1)
        )
        window = jax.tree.map(lambda leaf: leaf[-WINDOW:], steps)
        window = window._replace(hidden=window.hidden.reshape(WINDOW, -1, self.width))
        return variables, slopes, stream, window, key, number + 1


class FlaxPolicy(Policy):
    """The greedy policy of a trained `Recipe`, for the same evaluation as ours."""

    recipe: Recipe = eqx.field(static=True)
    variables: Any

    def init(self, key: Any) -> Any:
        """An empty hidden state."""
        return jnp.zeros((self.recipe.env.num_agents, self.recipe.width))

    def act(self, key: Any, carry: Any, timestep: Any) -> Any:
        """Each agent's best allowed action."""
        seen = self.recipe.inputs(timestep.observation[None])
        fresh = jnp.zeros((1, len(carry)), bool)
        carry, values = self.recipe.network.apply(self.variables, carry, seen, fresh, False)
        values = jnp.where(timestep.mask, values[0], -jnp.inf)
        return jnp.argmax(values, axis=-1).astype(jnp.int32), carry


class Wins(Observer[Any]):
    """Whether the last reward of each episode was at least 1."""

    def begin(self, env_state: Any, carry: Any, timestep: Any) -> Any:
        """None yet."""
        return jnp.zeros(timestep.reward.shape, bool)

    def acted(self, account: Any, step: Any, choice: Any) -> Any:
        """Choices do not matter."""
        return account

    def stepped(self, account: Any, step: Any, done: Any) -> Any:
        """The last running step decides."""
        return jnp.where(done.running, done.timestep.reward >= 1.0, account)


def win_rate(env: Any, policy: Policy, episodes: int) -> float:
    key = jax.random.PRNGKey(1000)
    wins = jax.jit(lambda: rollout(env, policy, Wins(), key=key, num_episodes=episodes))()
    return float(np.mean(wins))


def saved(path: Path, state: Tree) -> None:
    """Write all leaves, whole or not at all."""
    new = path.with_suffix(".new.npz")
    np.savez(new, *map(np.asarray, jax.tree.leaves(state)), allow_pickle=False)
    new.replace(path)


def restored(path: Path, like: Tree) -> Tree:
    with np.load(path, allow_pickle=False) as stored:
        leaves = [jnp.asarray(stored[f"arr_{index}"]) for index in range(len(stored.files))]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def train_recipe(env: Any, folder: Path, given: Any) -> dict[str, Any]:
    """JaxMARL's recipe, one seed after another."""
    recipe = Recipe(env, steps=given.steps, width=given.width)
    one_round, rates, seconds = jax.jit(recipe.round, donate_argnums=0), [], 0.0
    for seed in range(given.seeds):
        path = folder / f"seed-{seed}.npz"
        state = jax.jit(recipe.init)(jax.random.PRNGKey(seed))
        if path.exists():
            state = restored(path, state)
        begin = time.perf_counter()
        while int(state[-1]) < recipe.rounds:
            state = one_round(state)
            if int(state[-1]) % 5 == 0 or int(state[-1]) == recipe.rounds:
                saved(path, state)
                print(
                    f"{folder.name} seed {seed}: round {int(state[-1])} of {recipe.rounds}",
                    flush=True,
                )
        seconds += time.perf_counter() - begin
        rates.append(win_rate(env, FlaxPolicy(recipe, state[0]), given.episodes))
    steps = recipe.rounds * ENVIRONMENTS * STEPS
    return {
        "values": rates,
        "width": recipe.width,
        "env_steps": steps,
        "seconds_since_resume": round(seconds, 1),
    }


def config_of(method: str, name: str, steps: int) -> Config:
    """Our preset on this map, for so many steps."""
    config = load_preset(f"{ENV}/smax").replace({"method.name": method})
    sizes = ("num_envs", "agent_steps_per_round", "rounds_per_epoch")
    per_epoch = math.prod(config.learner.arguments[size] for size in sizes)
    return config.replace({"env.scenario": name, "epochs": max(1, steps // per_epoch)})


def train_ours(config: Config, env: Any, folder: Path, given: Any) -> dict[str, Any]:
    """One run after another: on a CPU seeds side by side take nearly twice as long."""
    rates, seconds = [], 0.0
    for seed in range(given.seeds):
        run = folder / f"seed-{seed}"
        if run.exists():
            resume(run)
        else:
            train(config.replace({"seed": seed}), run)
        last = read_metrics(run)[-1]
        seconds += last["clock"]["seconds"]
        rates.append(win_rate(env, GreedyPolicy(env, load(run).value), given.episodes))
        print(f"{folder.name} seed {seed}: win rate {rates[-1]:.3f}", flush=True)
    return {"values": rates, "env_steps": last["env_steps"], "seconds": round(seconds, 1)}


def main() -> None:
    """Train what is missing and print the win rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--maps", nargs="+", default=["3m", "2s3z"])
    rows = ["jaxmarl-pqn-vdn", "vdn", "pairvdn"]
    parser.add_argument("--rows", nargs="+", default=rows, choices=rows)
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--width", type=int, default=512, help="units of JaxMARL's network")
    parser.add_argument("--json", type=Path, help="also add the rows to this file")
    given = parser.parse_args()
    rows_of = {}
    for name in given.maps:
        env = config_of("vdn", name, given.steps).build_env()
        for row in given.rows:
            folder = given.out / f"{name}-{row}"
            result = folder / "result.json"
            if not result.exists():
                folder.mkdir(parents=True, exist_ok=True)
                work: Callable[[], dict[str, Any]] = (
                    partial(train_recipe, env, folder, given)
                    if row == "jaxmarl-pqn-vdn"
                    else partial(train_ours, config_of(row, name, given.steps), env, folder, given)
                )
                told = {"map": name, "row": row, "episodes": given.episodes, **work()}
                told |= {"mean": float(np.mean(told["values"])), "software": software()}
                result.write_text(json.dumps(told, indent=1))
            print(result.read_text(), flush=True)
            rows_of[f"{name}/{row}"] = json.loads(result.read_text())
    if given.json:
        known = json.loads(given.json.read_text())["rows"] if given.json.exists() else {}
        found = {"rows": {**known, **rows_of}}
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
