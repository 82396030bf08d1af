"""Games of a single joint action: the smallest tasks in which coordination decides.

A *ring* of n agents has the n edges (i, i + 1 mod n). Two agents therefore share two edges, 0-1 and
1-0, exactly as a pair-wise value on a ring of two has two tables.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int32

from pairvdn.checks import MOST_AGENTS, number_within, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.scene import Circles, Lines, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

# Nested tuples instead of arrays keep a game hashable, which `jax.jit(env.step)` needs.
Table = tuple[tuple[float, ...], ...]


MOST_ACTIONS = 100  # of an agent in a game of random tables


class Payoff(eqx.Module):
    """The team's reward as a function of the joint action."""

    @abc.abstractmethod
    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The reward of the team."""


class MatrixPayoff(Payoff):
    """A table for two agents: `table[u_0][u_1]`."""

    table: Table = eqx.field(static=True)

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The entry that the two agents chose."""
        return jnp.asarray(self.table, jnp.float32)[actions[0], actions[1]]


class RingTablesPayoff(Payoff):
    """The sum over the ring of one table per edge: `sum_i tables[i][u_i][u_{i+1}]`."""

    tables: tuple[Table, ...] = eqx.field(static=True)

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """The sum of the entries that the ends of each edge chose."""
        edges = jnp.arange(len(self.tables), dtype=jnp.int32)
        tables = jnp.asarray(self.tables, jnp.float32)
        return tables[edges, actions, jnp.roll(actions, -1)].sum()


class WallPayoff(Payoff):
    """The paper's wall: 1 if all hit (action 1), 0 if none does, -1 if only some do."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """All or nothing."""
        hits = actions == 1
        return jnp.where(hits.all(), 1.0, jnp.where(hits.any(), -1.0, 0.0))


class GradedWallPayoff(Payoff):
    """A wall that is a sum over the ring: `(2 * edges with both ends hitting - hitting) / n`."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """1 if all hit, 0 if none does, at most 0 otherwise."""
        hits = (actions == 1).astype(jnp.float32)
        return (2 * hits * jnp.roll(hits, -1) - hits).sum() / actions.shape[0]


class CrossroadsPayoff(Payoff):
    """Cars that go (action 1) less 10 for each crash of two neighbours on the ring."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """`sum_i g_i - 10 sum_i g_i g_{i+1}`."""
        going = (actions == 1).astype(jnp.float32)
        return (going - 10 * going * jnp.roll(going, -1)).sum()


class CrossroadsAllPayoff(Payoff):
    """Cars that go less 10 for each two that go: the paper's words, the complete graph."""

    def __call__(self, actions: Int32[Array, " n"]) -> Float[Array, ""]:
        """`g - 10 g (g - 1) / 2` for g cars that go."""
        going = (actions == 1).astype(jnp.float32).sum()
        return going - 5 * going * (going - 1)


class OneStepState(eqx.Module):
    """The actions played: -1 for every agent until the one step of the episode."""

    actions: Int32[Array, " n"]


class OneStepGame(Environment[OneStepState]):
    """All agents act once, at the same time; the team is paid and the episode terminates.

    Observation (1): always 1. State (1): always 1. Agents differ only by their index, which the
    value adds: as a one-hot identifier with shared parameters, or as a network per agent with
    separate ones. The observation is not empty, because networks and other libraries handle empty
    arrays badly, and 1 lets even a linear layer without bias learn a constant.

    Reward: the payoff of the joint action; each agent gets 1/n of it. All actions are allowed.

    Args:
        name: Id under which `make` finds the game.
        num_agents: Number of agents.
        num_actions: Number of actions of each agent.
        payoff: Team reward as a function of the joint action.
        best_reward: Payoff of the best joint action.
        action_names: Names of the actions, if they have any; otherwise actions are numbers.
    """

    max_steps = 1  # the episode terminates there, so it is never truncated
    observation_names = ("always 1",)
    name: str = eqx.field(static=True)
    spec: EnvSpec = eqx.field(static=True)
    payoff: Payoff
    best_reward: float = eqx.field(static=True)
    action_names: tuple[str, ...] = eqx.field(static=True)

    def __init__(
        self,
        name: str,
        num_agents: int,
        num_actions: int,
        payoff: Payoff,
        best_reward: float,
        action_names: tuple[str, ...] | None = None,
    ) -> None:
        self.name = name
        self.spec = EnvSpec(num_agents, num_actions, observation_size=1, state_size=1)
        self.payoff = payoff
        self.best_reward = best_reward
        self.action_names = action_names or tuple(map(str, range(num_actions)))

    def reset(self, key: PRNGKey) -> tuple[OneStepState, TimeStep]:
        """Nothing is random: every episode is the same."""
        del key
        return OneStepState(jnp.full((self.num_agents,), -1, jnp.int32)), self._time_step()

    def step(
        self, key: PRNGKey, state: OneStepState, actions: Int32[Array, " n"]
    ) -> tuple[OneStepState, TimeStep]:
        """Pay for the joint action and end the episode."""
        actions = self.as_actions(actions)
        del key, state
        return OneStepState(actions), self._time_step(self.payoff(actions), terminated=True)

    def scene(self, state: OneStepState) -> Scene:
        """The agents on a ring, grey until they acted, then one colour per action."""
        n = self.num_agents
        turn = 2 * np.pi * np.arange(n) / n
        # The first agent is on the left, so that two agents are side by side.
        places = np.stack([-np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
        radius = min(0.3, 0.8 * np.pi / n)
        step = np.roll(places, -1, axis=0) - places
        rim = radius * step / np.linalg.norm(step, axis=1, keepdims=True)  # where an edge starts
        return Scene(
            bounds=jnp.asarray([-1.5, -1.5, 1.5, 1.5], jnp.float32),
            circles=Circles(
                centre=jnp.asarray(places),
                radius=jnp.full((n,), radius, jnp.float32),
                colour=_colours(self.num_actions)[state.actions + 1],
                agent=jnp.arange(n, dtype=jnp.int32),
            ),
            lines=Lines(
                start=jnp.asarray(places + rim),
                end=jnp.asarray(places + step - rim),
                colour=jnp.full((n, 3), 0.6, jnp.float32),
            ),
        )

    def _time_step(
        self, reward: Float[Array, ""] | None = None, terminated: bool = False
    ) -> TimeStep:
        return self.time_step(
            observation=jnp.ones((self.num_agents, 1), jnp.float32),
            state=jnp.ones((1,), jnp.float32),
            rewards=reward,
            terminated=terminated,
        )


def _colours(num_actions: int) -> Float[Array, "a_plus_1 3"]:
    """Grey for an agent that has not acted, then hues spread evenly over the actions."""
    hue = np.arange(num_actions)[:, None] / num_actions + np.array([0, 1 / 3, 2 / 3])
    actions = 0.5 + 0.4 * np.cos(2 * np.pi * hue)
    return jnp.asarray(np.concatenate([np.full((1, 3), 0.75), actions]), jnp.float32)


def climbing() -> OneStepGame:
    """Two agents, three actions: the best entry, 11, shares its row and column with -30."""
    table = ((11.0, -30.0, 0.0), (-30.0, 7.0, 6.0), (0.0, 0.0, 5.0))
    return OneStepGame("climbing", 2, 3, MatrixPayoff(table), best_reward=11.0)


def penalty(k: float | int = -100.0) -> OneStepGame:
    """Two agents, three actions: two best entries, 10, and the penalty k for mixing them up.

    Args:
        k: The penalty, at most 0.
    """
    k = number_within("k", k, -np.inf, 0)
    table = ((k, 0.0, 10.0), (0.0, 2.0, 0.0), (10.0, 0.0, k))
    return OneStepGame("penalty", 2, 3, MatrixPayoff(table), best_reward=10.0)


def qtran() -> OneStepGame:
    """Two agents, three actions: the best entry, 8, is surrounded by -12."""
    table = ((8.0, -12.0, -12.0), (-12.0, 0.0, 0.0), (-12.0, 0.0, 0.0))
    return OneStepGame("qtran", 2, 3, MatrixPayoff(table), best_reward=8.0)


def wall(num_agents: int = 2) -> OneStepGame:
    """Rest (0) or hit (1): all must hit at once. A sum over ring pairs only for two agents.

    Args:
        num_agents: Number of agents.
    """
    num_agents = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
    return OneStepGame("wall", num_agents, 2, WallPayoff(), 1.0, ("rest", "hit"))


def wall_graded(num_agents: int = 4) -> OneStepGame:
    """Rest (0) or hit (1): as `wall`, but a sum over ring pairs for any number of agents.

    Args:
        num_agents: Number of agents.
    """
    num_agents = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
    return OneStepGame("wall-graded", num_agents, 2, GradedWallPayoff(), 1.0, ("rest", "hit"))


def crossroads(num_agents: int = 4) -> OneStepGame:
    """Stop (0) or go (1): cars that are neighbours on the ring crash if both go.

    Args:
        num_agents: Number of agents.
    """
    num_agents = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
    best = float(num_agents // 2)
    return OneStepGame("crossroads", num_agents, 2, CrossroadsPayoff(), best, ("stop", "go"))


def crossroads_all(num_agents: int = 4) -> OneStepGame:
    """Stop (0) or go (1): any two cars that go crash, so only one should.

    Args:
        num_agents: Number of agents.
    """
    num_agents = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
    return OneStepGame("crossroads-all", num_agents, 2, CrossroadsAllPayoff(), 1.0, ("stop", "go"))


def ring_game(num_agents: int = 4, num_actions: int = 3, seed: int = 0) -> OneStepGame:
    """A random table of integers 0..9 for each edge of a ring, with one best joint action.

    Args:
        num_agents: Number of agents.
        num_actions: Number of actions of each agent.
        seed: Seed of the tables.
    """
    num_agents = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
    num_actions = whole_number("num_actions", num_actions, 2, MOST_ACTIONS)
    seed = whole_number("seed", seed, 0)
    tables, best = draw_ring_tables(num_agents, num_actions, seed)
    payoff = RingTablesPayoff(
        tuple(tuple(tuple(map(float, row)) for row in table) for table in tables)
    )
    return OneStepGame("ring-game", num_agents, num_actions, payoff, best_reward=float(best))


def draw_ring_tables(
    num_agents: int, num_actions: int, seed: int, *, max_draws: int = 10_000
) -> tuple[Int[np.ndarray, "n a a"], int]:
    """Draw integers 0..9 for each edge until one joint action is better than all others.

    Returns the tables and the sum of the best joint action. Most small rings are unique at the
    first draw, but ties become more likely with more agents and actions, hence the limit.
    """
    generator = np.random.default_rng(seed)
    for _ in range(max_draws):
        tables = generator.integers(0, 10, size=(num_agents, num_actions, num_actions))
        best, count = best_on_ring(tables)
        if count == 1:
            return tables, best
    raise ValueError(
        f"{max_draws} draws gave no ring game with a unique optimum for num_agents={num_agents}, "
        f"num_actions={num_actions}: ties among the integers 0..9 are too likely; use fewer agents."
    )


def best_on_ring(tables: Int[np.ndarray, "n a a"]) -> tuple[int, int]:
    """The best sum on the ring and the number of joint actions that reach it, at most 2.

    Walks once around the ring; `best[u, v]` is the best sum over the edges so far if the first
    agent does u and the current one v, `count[u, v]` the number of ways to reach it.
    """
    best, count = tables[0], np.ones_like(tables[0])
    for table in tables[1:]:
        sums = best[:, :, None] + table[None]  # first action, current action, next action
        best = sums.max(axis=1)
        # Capped, since the number of ties grows exponentially and only "more than one" matters.
        count = np.minimum(((sums == best[:, None]) * count[:, :, None]).sum(axis=1), 2)
    closed = np.diagonal(best)  # the last edge leads back to the first agent
    return int(closed.max()), int(min(np.diagonal(count)[closed == closed.max()].sum(), 2))
