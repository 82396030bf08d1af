"""Small pages of recorded episodes, made once for all tests and processes."""

import dataclasses
from pathlib import Path

import jax
import numpy as np
import pytest
from small_runs import shared_folder
from small_zoo import Drawn

from pairvdn import envs, values
from pairvdn.evaluation import record_greedy, record_on_host
from pairvdn.runs.analysis.record import RecordedRun
from pairvdn.viewing.watch import write_page
from pairvdn.viewing.watch.pack import named_arrays

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;"


def untrained_run(
    name: str, env_name: str, method: str, *, episodes: int = 2, action_repeat: int = 1, **arguments
) -> RecordedRun:
    """Episodes of a network as it was initialised: its tables are as good as any to look at."""
    env = envs.make(env_name, **arguments)
    value = values.maker(method, env.spec, hidden_sizes=(8,))(key=jax.random.key(2))
    return RecordedRun(
        name=name,
        environment=env_name,
        method=method,
        checkpoint="last",
        epoch=0,
        seed=3,
        num_agents=env.num_agents,
        action_names=env.action_names,
        observation_names=env.observation_names,
        measure_meanings=getattr(env, "measure_meanings", {}),
        seconds_per_step=envs.seconds_per_step(env),
        recordings=record_greedy(
            env, value, episodes=episodes, seed=3, action_repeat=action_repeat
        ),
    )


def rendered_run() -> RecordedRun:
    """An episode of an environment that renders its own pictures."""
    env = envs.from_pettingzoo(lambda: Drawn(render_mode="rgb_array"))
    value = values.make("pairvdn", env.spec, key=jax.random.key(2), hidden_sizes=(8,))
    return RecordedRun(
        name="rendered",
        environment=env.name,
        method="pairvdn",
        checkpoint="last",
        epoch=0,
        seed=3,
        num_agents=env.num_agents,
        action_names=("0", "1", "2"),
        observation_names=("0", "1", "2"),
        measure_meanings={},
        seconds_per_step=0.2,
        recordings=record_on_host(env, value, episodes=1, seed=3),
    )


def _write(folder: Path) -> None:
    """`one.html`, `both.html`, `boxes.html`, `pictures.html`, `hostile.html`, and their numbers."""
    folder.mkdir()
    write_page([rendered_run()], folder / "pictures.html")
    boxes = untrained_run(
        "boxes", "box-jump", "pairvdn-sorted", episodes=1, num_boxes=16, max_steps=10
    )
    write_page([boxes], folder / "boxes.html")
    pairs = untrained_run("pairs", "gather", "pairvdn-nearest", action_repeat=2)
    alone = untrained_run("alone", "gather", "vdn")
    for name in ("one.html", "again.html"):
        write_page([pairs], folder / name)
    write_page([pairs, alone], folder / "both.html")
    hostile = dataclasses.replace(alone, name=HOSTILE, environment=HOSTILE, method=HOSTILE)
    hostile = dataclasses.replace(hostile, action_names=(HOSTILE, *alone.action_names[1:]))
    write_page([hostile], folder / "hostile.html")
    numbers = {
        f"{side}.{episode}.{name}": array
        for side, run in enumerate([pairs, alone])
        for episode, recording in enumerate(run.recordings)
        for name, array in named_arrays(recording).items()
    }
    np.savez(folder / "numbers.npz", **numbers)


def pages(temporary: pytest.TempPathFactory) -> Path:
    """The folder of the pages."""
    return shared_folder("watch-pages", _write, temporary)
