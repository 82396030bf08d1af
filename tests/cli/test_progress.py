"""What a person reads of an epoch."""

from pairvdn.cli.progress import numbers
from pairvdn.runs.epochs import Report

CLOCK = {"env_steps_per_second": 10.0, "updates_per_second": 1.0}


def line(*, episodes: int, mean_return: float) -> dict:
    return {
        "episodes": episodes,
        "mean_return": mean_return,
        "loss": 0.5,
        "epsilon": 0.1,
        "clock": CLOCK,
    }


def test_the_return_is_of_episodes_that_ended() -> None:
    lines = [line(episodes=2, mean_return=10.0), line(episodes=0, mean_return=0.0)]
    assert numbers(Report(1, 4, lines, 3.0))["return"] == "10"
    lines.append(line(episodes=6, mean_return=2.0))
    assert numbers(Report(1, 4, lines, 3.0))["return"] == "4"


def test_no_return_before_an_episode_has_ended() -> None:
    lines = [line(episodes=0, mean_return=0.0)]
    assert numbers(Report(1, 4, lines, 3.0))["return"] == "-"
