"""The cost of recording episodes instead of only playing them, and the size of their page.

Run `python benchmarks/recording.py`. Times are CPU seconds without compilation, the best of several
rounds; both take turns in one process. The networks are untrained: only their size matters.
"""

import time
from collections.abc import Callable
from typing import Any

import jax

from pairvdn import envs
from pairvdn.config import load_preset
from pairvdn.evaluation import play_greedy, record_greedy
from pairvdn.runs.analysis.record import RecordedRun
from pairvdn.viewing.watch import make_page

PRESETS = ("box-jump/pairvdn-sorted", "box-jump/vdn", "predator-prey/pairvdn-nearest")
EPISODES, ROUNDS = 3, 5
STEPS = {"box-jump": 1000, "predator-prey": 200}


def cpu_seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(preset: str) -> None:
    config = load_preset(preset)
    steps = STEPS[config.env.name]
    config = config.replace({"env.max_steps": steps})
    env = config.build_env()
    value = config.make_value(env, key=jax.random.key(0))
    action_repeat = config.build_learner(env).collector.action_repeat
    arguments = {"episodes": EPISODES, "seed": 0, "action_repeat": action_repeat}
    runs = [
        lambda: play_greedy(env, value, moments=(steps,), **arguments),
        lambda: record_greedy(env, value, **arguments),
    ]
    for run in runs:
        run()  # compile
    times = [[cpu_seconds(run) for run in runs] for _ in range(ROUNDS)]
    play, record = (min(column) for column in zip(*times, strict=True))
    recordings = record_greedy(env, value, **arguments)
    page = make_page([_described(preset, env, recordings)])
    print(
        f"{preset}: {EPISODES} episodes of {steps} steps; evaluate {play:.2f} s, "
        f"record {record:.2f} s, ratio {record / play:.2f}; page {len(page) / 1e6:.2f} MB"
    )


def _described(preset: str, env: envs.Environment[Any], recordings: list[Any]) -> RecordedRun:
    assert isinstance(env, envs.HasNames)
    return RecordedRun(
        name=preset,
        environment=env.name,
        method=preset.partition("/")[2],
        checkpoint="last",
        epoch=0,
        seed=0,
        num_agents=env.num_agents,
        action_names=env.action_names,
        observation_names=env.observation_names,
        seconds_per_step=envs.seconds_per_step(env),
        recordings=recordings,
    )


def main() -> None:
    for preset in PRESETS:
        measure(preset)


if __name__ == "__main__":
    main()
