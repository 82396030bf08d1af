"""Steps per CPU second of PettingZoo's environments, by themselves and through our adapter.

Random actions, resets included, one copy, one core. Environments that are not installed are
skipped.
"""

import argparse
import os
import time
import warnings

import numpy as np

from pairvdn import envs

SMALL = {"image_size": (16, 16)}
ENVIRONMENTS = {
    "mpe2.simple_spread_v3": {},
    "butterfly.knights_archers_zombies_v11": {},
    "sisl.pursuit_v5": {},
    "butterfly.pistonball_v6": {"continuous": False, **SMALL},
    "butterfly.cooperative_pong_v6": {"render_mode": "rgb_array", **SMALL},
}


def speed(step, seconds):
    """Calls of `step` per second of this process's own time."""
    step()
    began, count = time.process_time(), 0
    while (took := time.process_time() - began) < seconds:
        step()
        count += 1
    return count / took


def alone(env):
    env.reset(seed=0)

    def step():
        if not env.agents:
            env.reset(seed=0)
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})

    return step


def seen_by_a_learner(env):
    copy, rng = env.copy(), np.random.default_rng(0)
    now = copy.reset(0)

    def step():
        nonlocal now
        chosen = np.argmax(rng.random(now.mask.shape) * now.mask, axis=1).astype(np.int32)
        now = copy.reset(0) if now.terminated or now.truncated else copy.step(chosen)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="duration of each measurement")
    seconds = parser.parse_args().seconds
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    warnings.simplefilter("ignore")
    print("| environment | agents | on its own | through the adapter |\n|---|---|---|---|")
    for name, arguments in ENVIRONMENTS.items():
        try:
            env = envs.constructor(f"pettingzoo:{name}")(**arguments)
        except ImportError as error:
            print(f"| `{name}` | {error} | | |")
            continue
        raw, ours = speed(alone(env.make_env()), seconds), speed(seen_by_a_learner(env), seconds)
        print(f"| `{name}` | {env.num_agents} | {raw:,.0f} | {ours:,.0f} |")


if __name__ == "__main__":
    main()
