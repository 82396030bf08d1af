"""How long a step lasts for those who watch."""

from typing import Any

from pairvdn.envs.base import Environment, HasClock

SECONDS_PER_TURN = 0.2  # where time is counted in turns: slow enough to be followed


def seconds_per_step(env: Environment[Any]) -> float:
    """What the environment's clock says; where it has none, time enough to see each turn."""
    return env.seconds_per_step if isinstance(env, HasClock) else SECONDS_PER_TURN
