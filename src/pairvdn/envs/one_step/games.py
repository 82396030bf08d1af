"""The one-step games by name; each function is what `make` calls."""

import math

from pairvdn.checks import whole_number
from pairvdn.envs.one_step.env import OneStepGame
from pairvdn.envs.one_step.ring_tables import draw_ring_tables
from pairvdn.envs.one_step.rules import (
    CrossroadsAllPayoff,
    CrossroadsPayoff,
    GradedWallPayoff,
    MatrixPayoff,
    RingTablesPayoff,
    WallPayoff,
)


def climbing() -> OneStepGame:
    """Two agents, three actions: the best entry, 11, stands between two of -30."""
    table = ((11.0, -30.0, 0.0), (-30.0, 7.0, 6.0), (0.0, 0.0, 5.0))
    return OneStepGame("climbing", 2, 3, MatrixPayoff(table), best_reward=11.0)


def penalty(k: float | int = -100.0) -> OneStepGame:
    """Two agents, three actions: two best entries, 10, and the penalty k for mixing them up."""
    if not (math.isfinite(k) and k <= 0):
        raise ValueError(f"k must be a finite number of at most 0, a penalty; it is {k}.")
    k = float(k)
    table = ((k, 0.0, 10.0), (0.0, 2.0, 0.0), (10.0, 0.0, k))
    return OneStepGame("penalty", 2, 3, MatrixPayoff(table), best_reward=10.0)


def qtran() -> OneStepGame:
    """Two agents, three actions: the best entry, 8, is surrounded by -12."""
    table = ((8.0, -12.0, -12.0), (-12.0, 0.0, 0.0), (-12.0, 0.0, 0.0))
    return OneStepGame("qtran", 2, 3, MatrixPayoff(table), best_reward=8.0)


def wall(num_agents: int = 2) -> OneStepGame:
    """Rest (0) or hit (1): all must hit at once. A sum over ring pairs only for two agents."""
    num_agents = whole_number("num_agents", num_agents, 2)
    return OneStepGame("wall", num_agents, 2, WallPayoff(), 1.0, ("rest", "hit"))


def wall_graded(num_agents: int = 4) -> OneStepGame:
    """Rest (0) or hit (1): as `wall`, but a sum over ring pairs for every number of agents."""
    num_agents = whole_number("num_agents", num_agents, 2)
    return OneStepGame("wall-graded", num_agents, 2, GradedWallPayoff(), 1.0, ("rest", "hit"))


def crossroads(num_agents: int = 4) -> OneStepGame:
    """Stop (0) or go (1): cars that are neighbours on the ring crash if both go."""
    num_agents = whole_number("num_agents", num_agents, 2)
    best = float(num_agents // 2)
    return OneStepGame("crossroads", num_agents, 2, CrossroadsPayoff(), best, ("stop", "go"))


def crossroads_all(num_agents: int = 4) -> OneStepGame:
    """Stop (0) or go (1): any two cars that go crash, so only one should."""
    num_agents = whole_number("num_agents", num_agents, 2)
    return OneStepGame("crossroads-all", num_agents, 2, CrossroadsAllPayoff(), 1.0, ("stop", "go"))


def ring_game(num_agents: int = 4, num_actions: int = 3, seed: int = 0) -> OneStepGame:
    """A random table of integers 0..9 for each edge of a ring, with a unique optimum."""
    num_agents = whole_number("num_agents", num_agents, 2)
    num_actions = whole_number("num_actions", num_actions, 2)
    seed = whole_number("seed", seed, 0)
    tables, best = draw_ring_tables(num_agents, num_actions, seed)
    payoff = RingTablesPayoff(
        tuple(tuple(tuple(map(float, row)) for row in table) for table in tables)
    )
    return OneStepGame("ring-game", num_agents, num_actions, payoff, best_reward=float(best))
