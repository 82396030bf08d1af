"""Replay trained Box Jump policies in real Box2D, to show that their towers stand there too.

    python benchmarks/box2d_replay.py runs/box-jump-towers/upright/pairvdn-sorted --episodes 32

The boxes start at the positions of our environment, and the policy observes Box2D's boxes. Needs
Box2D, which the extra `dev` installs.
"""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pairvdn.acting.policy import tables as tables_of
from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.observe import observe
from pairvdn.envs.box_jump.reward import shares
from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.evaluation import pooled, summary
from pairvdn.runs import load
from pairvdn.runs.analysis.evaluate import env_for
from pairvdn.runs.folder import run_folders

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from box2d_world import Box2DWorld, start_like


def as_state(world: Box2DWorld, like: BoxJumpState, shown: float, step: int) -> BoxJumpState:
    """The Box2D world as our state, to compute observations and measures from; never stepped."""
    x, y, angle = world.places
    vx, vy = world.velocities
    turn = [box.angularVelocity for box in world.boxes]
    fields = (x, y, angle, vx, vy, turn)
    bodies = jax.tree.unflatten(
        jax.tree.structure(like.bodies), [np.asarray(field, np.float32) for field in fields]
    )
    return eqx.tree_at(
        lambda s: (s.bodies, s.calm, s.could_jump, s.fallen, s.best, s.shown, s.steps),
        like,
        (
            bodies,
            np.int32(world.calm),
            world.could_jump,
            world.fallen,
            np.float32(world.best),
            np.float32(shown),
            np.int32(step),
        ),
    )


class Replayer:
    """One trained policy, played in Box2D."""

    def __init__(self, run: Path, max_steps: int, iterations: int | None, checkpoint: str) -> None:
        loaded = load(run, checkpoint=checkpoint)
        env = env_for(loaded, max_steps)
        assert isinstance(env, BoxJump)
        self.env, self.action_repeat = env, loaded.action_repeat
        parameters, value = env.parameters, loaded.value
        self.parameters = parameters
        if iterations is not None:
            self.parameters = dataclasses.replace(
                parameters, velocity_iterations=iterations, position_iterations=iterations
            )

        @jax.jit
        def act(state: BoxJumpState) -> Any:
            observation, whole = observe(state, parameters)
            mask = jnp.ones((env.num_agents, env.num_actions), bool)
            return value.greedy(tables_of(env, value, observation, whole), mask)[0]

        self.act = act
        self.shares = jax.jit(lambda state, actions: shares(state, actions, parameters))

    def play(self, seed: int) -> dict[str, float]:
        """One episode: the best height after 400 and after all steps, and the synchrony."""
        fresh, _ = self.env.reset(jax.random.key(seed))
        fresh = jax.tree.map(np.asarray, fresh)
        world = start_like(fresh, self.parameters)
        heights, together, loaded = {}, 0.0, 0.0
        shown = counted = float(fresh.shown)
        best = float(fresh.best)
        for step in range(self.env.max_steps):
            state = as_state(world, fresh, shown, step)
            if step % self.action_repeat == 0:
                actions = np.asarray(self.act(state))
            share = self.shares(state, actions)["synchrony"]
            together, loaded = together + float(share.part), loaded + float(share.whole)
            world.step(actions)
            if self.parameters.best_lags:
                shown, counted, best = counted, best, max(best, world.best)
            else:
                shown = world.best
            heights[step + 1] = max(world.best, 0.0)
        return {
            "best_height@400": heights[min(400, len(heights))],
            f"best_height@{len(heights)}": heights[len(heights)],
            "synchrony": together / loaded if loaded else float("nan"),
        }


def over_seeds(seeds: list[np.ndarray]) -> dict[str, Any] | None:
    """A summary over the means of several seeds, or over the episodes of one."""
    together = pooled([summary(episodes) for episodes in seeds])
    return None if together is None else together._asdict()


def main() -> None:
    """Replay every seed of the folders; print the means and write the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--episodes", type=int, default=32)
    parser.add_argument("--max-steps", type=int, default=1000)
    parser.add_argument(
        "--iterations",
        type=int,
        help="of Box2D's velocity and position solvers, 30 in the authors' code; default: as in "
        "the environment",
    )
    parser.add_argument("--checkpoint", choices=["last", "best"], default="last")
    parser.add_argument("--json", type=Path, help="also write the summary to this file")
    given = parser.parse_args()
    for folder in given.runs:
        if not (folder / "config.toml").exists():
            sys.exit(f"{folder} is not a run folder: it has no config.toml.")
    found = {}
    for folder in given.runs:
        seeds: list[dict[str, np.ndarray]] = []
        for run in run_folders(folder):
            replayer = Replayer(run, given.max_steps, given.iterations, given.checkpoint)
            played = [replayer.play(seed) for seed in range(given.episodes)]
            seeds.append({name: np.array([one[name] for one in played]) for name in played[0]})
            means = {name: round(float(np.nanmean(ones)), 3) for name, ones in seeds[-1].items()}
            print(run, means, flush=True)
        found["/".join(folder.parts[-2:])] = {
            name: over_seeds([one[name][~np.isnan(one[name])] for one in seeds])
            for name in seeds[0]
        }
    if given.json:
        result = {"episodes": given.episodes, "max_steps": given.max_steps, "rows": found}
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
