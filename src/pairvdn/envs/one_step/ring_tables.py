"""Random tables on a ring whose best joint action is unique; plain NumPy, when a game is made."""

import numpy as np
from jaxtyping import Int


def draw_ring_tables(
    num_agents: int, num_actions: int, seed: int, *, max_draws: int = 10_000
) -> tuple[Int[np.ndarray, "n a a"], int]:
    """Draw integers 0..9 for each edge until one joint action is better than all others.

    Returns the tables and the sum that the best joint action reaches. Most small rings are unique
    at the first draw, but every further agent and action is one more chance of a tie, hence the
    limit.
    """
    generator = np.random.default_rng(seed)
    for _ in range(max_draws):
        tables = generator.integers(0, 10, size=(num_agents, num_actions, num_actions))
        best, count = best_on_ring(tables)
        if count == 1:
            return tables, best
    raise ValueError(
        f"No ring game with a unique optimum in {max_draws} draws for num_agents={num_agents}, "
        f"num_actions={num_actions}: ties among the integers 0..9 are too likely; ask for fewer "
        "agents."
    )


def best_on_ring(tables: Int[np.ndarray, "n a a"]) -> tuple[int, int]:
    """The best sum on the ring and how many joint actions reach it, counted up to 2.

    Walks once around the ring; `best[u, v]` is the best sum over the edges walked so far of those
    joint actions in which the first agent does u and the present one v, `count[u, v]` how many
    reach it.
    """
    best, count = tables[0], np.ones_like(tables[0])
    for table in tables[1:]:
        sums = best[:, :, None] + table[None]  # first action, present action, next action
        best = sums.max(axis=1)
        # Capped, since the number of ties grows exponentially and only "more than one" matters.
        count = np.minimum(((sums == best[:, None]) * count[:, :, None]).sum(axis=1), 2)
    closed = np.diagonal(best)  # the last edge leads back to the first agent
    return int(closed.max()), int(min(np.diagonal(count)[closed == closed.max()].sum(), 2))
