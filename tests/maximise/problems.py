"""Random problems for the property tests, and the oracle they are held against."""

from collections.abc import Callable

import equinox as eqx
import jax
import numpy as np
from hypothesis import strategies as st

from pairvdn import maximise
from pairvdn.types import Maximum

# Small whole numbers make ties frequent; the others test signs and magnitudes.
SCALES = (0, 1, 3, 1e-3, 1e4)


class Drawn(eqx.Module):
    payoffs: np.ndarray
    utilities: np.ndarray | None
    mask: np.ndarray | None
    links: np.ndarray | None = None

    @property
    def num_agents(self) -> int:
        return self.payoffs.shape[0]

    def extras(self) -> dict[str, np.ndarray | None]:
        return {"utilities": self.utilities, "mask": self.mask}


def seeds() -> st.SearchStrategy[int]:
    return st.integers(0, 2**32 - 1)


@st.composite
def problems(draw: st.DrawFn, links: Callable | None = None, tables_less: int = 0) -> Drawn:
    """Tables for 1 to 6 agents with 1 to 4 actions; `links(rng, n)` draws the graph."""
    n, a = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    scale = draw(st.sampled_from(SCALES))
    with_utilities, with_mask = draw(st.booleans()), draw(st.booleans())
    rng = np.random.default_rng(draw(seeds()))

    def numbers(*shape: int) -> np.ndarray:
        if scale in (0, 1, 3):
            return rng.integers(-scale, scale + 1, shape).astype(np.float32)
        return (scale * rng.normal(size=shape)).astype(np.float32)

    mask = None
    if with_mask:
        mask = rng.random((n, a)) < 0.6
        mask[np.arange(n), rng.integers(0, a, n)] = True  # everybody can do something
    return Drawn(
        payoffs=numbers(n - tables_less, a, a),
        utilities=numbers(n, a) if with_utilities else None,
        mask=mask,
        links=None if links is None else links(rng, n).astype(np.int32),
    )


def random_successors(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, n, n)


def random_parents(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random tree: in a random order everyone hangs below someone earlier."""
    order = rng.permutation(n)
    parents = np.empty(n, int)
    parents[order[0]] = order[0]
    for k in range(1, n):
        parents[order[k]] = order[rng.integers(0, k)]
    return parents


# Compiled once for each size, as a user would.
solve = {name: jax.jit(getattr(maximise, name)) for name in ("ring", "path", "tree", "successor")}


def oracle(payoffs: np.ndarray, edges: np.ndarray, drawn: Drawn) -> Maximum:
    size = len(drawn.mask) if drawn.mask is not None else None
    if drawn.utilities is not None:
        size = len(drawn.utilities)
    size = size or max(drawn.num_agents, int(np.max(edges, initial=0)) + 1)
    return maximise.brute_force(payoffs, edges, **drawn.extras(), num_agents=size)


def second_best(payoffs: np.ndarray, edges: np.ndarray, drawn: Drawn, best: Maximum) -> float:
    """The largest value of a joint action other than `best`; says whether `best` is unique."""
    values = []
    for agent, action in enumerate(np.asarray(best.actions)):
        shape = (len(best.actions), payoffs.shape[1])
        mask = np.ones(shape, bool) if drawn.mask is None else drawn.mask.copy()
        mask[agent, action] = False
        answer = maximise.brute_force(payoffs, edges, utilities=drawn.utilities, mask=mask)
        values.append(float(answer.value))
    return max(values)
