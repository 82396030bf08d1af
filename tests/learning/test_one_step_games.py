"""The paper's claim in its purest form: pairs find what no sum over agents can.

The code is that of benchmarks/one_step_games.py, which prints the table of the docs.
"""

from typing import Any

import pytest
from one_step_games import all_games, by_size, games_beyond_rings, is_best, learned_rewards

GROUPS = by_size(all_games())
SEEDS = [3, pytest.param(10, marks=pytest.mark.slow)]


def named(group: dict[str, Any]) -> str:
    return ", ".join(group)


def groups_and_seeds() -> list[Any]:
    """Every group with 10 seeds; with 3 the smallest two, and the ring game."""
    quick = [pytest.param(group, 3, id=f"{named(group)}-3") for group in (*GROUPS[:2], GROUPS[-1])]
    slow = pytest.mark.slow
    return quick + [pytest.param(one, 10, marks=slow, id=f"{named(one)}-10") for one in GROUPS]


@pytest.mark.parametrize(("group", "seeds"), groups_and_seeds())
def test_pairvdn_finds_a_best_joint_action(group: dict[str, Any], seeds: int) -> None:
    for label, rewards in learned_rewards(group, "pairvdn", seeds).items():
        assert is_best(rewards, group[label].best_reward).all(), (label, rewards)


@pytest.mark.parametrize("method", ["dcg", "dcg-max-plus"])
def test_all_pairs_find_a_best_joint_action_where_only_one_may_go(method: str) -> None:
    """All agents are alike: exact maxima and coordinate ascent both let one of them go."""
    games = {
        label: env for label, env in games_beyond_rings().items() if "num_agents=4" in label
    } | {label: env for label, env in all_games().items() if label == "crossroads(num_agents=4)"}
    for label, rewards in learned_rewards(games, method, 3).items():
        assert is_best(rewards, games[label].best_reward).all(), (label, rewards)


@pytest.mark.parametrize("seeds", SEEDS)
def test_vdn_is_trapped(seeds: int) -> None:
    """The least-squares sum over agents picks 0 on qtran and 2 on penalty, for every k."""
    games = {label: env for label, env in all_games().items() if env.name in ("penalty", "qtran")}
    for label, rewards in learned_rewards(games, "vdn", seeds).items():
        trap = 0.0 if label == "qtran" else 2.0
        assert rewards.tolist() == [trap] * seeds, label
