"""The speed of a config on this machine, after compilation."""

import dataclasses
import time
from collections.abc import Callable

from pairvdn.config.config import Config
from pairvdn.runs.memory import require_memory
from pairvdn.runs.training import make_training


@dataclasses.dataclass(frozen=True)
class Speed:
    """Environment steps per second without and with learning, and updates per second."""

    compile_seconds: float
    steps_only: float
    steps: float
    updates: float


def measure(config: Config, *, seconds: float, say: Callable[[str], None]) -> Speed:
    """Time the start, which collects without learning, and as many epochs as fit `seconds`."""
    built = config.build()
    require_memory(config, built, 1)
    training = make_training(config, built, config.seed)
    say("compiling ...")
    began = time.monotonic()
    state = training.init()
    training.compile(state)
    state, _ = training.epoch(state)
    compiled = time.monotonic() - began

    began = time.monotonic()
    fresh = training.init()
    collecting = int(fresh.env_steps) / (time.monotonic() - began)

    first = (int(state.env_steps), int(state.updates))
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        state, _ = training.epoch(state)
    took = time.monotonic() - began
    return Speed(
        compile_seconds=compiled,
        steps_only=collecting,
        steps=(int(state.env_steps) - first[0]) / took,
        updates=(int(state.updates) - first[1]) / took,
    )
