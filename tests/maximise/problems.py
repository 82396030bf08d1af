"""Random problems for the property tests, and an oracle in NumPy that tries everything.

One example of hypothesis is a BATCH of problems of one size, and sizes come from a short list:
compiling is what costs time here.
"""

import itertools
from collections.abc import Callable

import equinox as eqx
import jax
import numpy as np
from hypothesis import strategies as st

from pairvdn import maximise
from pairvdn.types import Maximum

SIZES = ((1, 3), (2, 1), (2, 4), (3, 2), (4, 3), (5, 2), (6, 4))
BATCH = 12


class Problems(eqx.Module):
    payoffs: np.ndarray  # b e a a
    utilities: np.ndarray  # b n a
    mask: np.ndarray  # b n a
    links: np.ndarray  # b n: successors, or parents

    @property
    def num_agents(self) -> int:
        return self.utilities.shape[1]

    def extras(self) -> dict[str, np.ndarray]:
        return {"utilities": self.utilities, "mask": self.mask}


Links = Callable[[np.random.Generator, int], np.ndarray]


def next_agents(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.roll(np.arange(n), -1)


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


@st.composite
def problems(
    draw: st.DrawFn, links: Links = next_agents, tables: Callable[[int], int] = lambda n: n
) -> Problems:
    """Batches of tables of all magnitudes, with ties, with and without utilities and masks."""
    n, a = draw(st.sampled_from(SIZES))
    whole = draw(st.booleans())  # small whole numbers: many ties
    scale = draw(st.sampled_from([0, 1, 3] if whole else [1e-3, 1, 1e4]))
    with_utilities, with_mask = draw(st.booleans()), draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def numbers(*shape: int) -> np.ndarray:
        drawn = rng.integers(-scale, scale + 1, shape) if whole else scale * rng.normal(size=shape)
        return drawn.astype(np.float32)

    mask = rng.random((BATCH, n, a)) < (0.6 if with_mask else 2)
    np.put_along_axis(mask, rng.integers(0, a, (BATCH, n, 1)), True, axis=2)
    return Problems(
        payoffs=numbers(BATCH, tables(n), a, a),
        utilities=numbers(BATCH, n, a) * np.float32(with_utilities),
        mask=mask,
        links=np.stack([links(rng, n) for _ in range(BATCH)]).astype(np.int32),
    )


def in_batches(function: Callable[..., Maximum]) -> Callable[..., Maximum]:
    """Compiled once for each size; arguments by position, then utilities and mask."""

    def batched(*arguments: np.ndarray, utilities: np.ndarray, mask: np.ndarray) -> Maximum:
        one = lambda u, m, *x: function(*x, utilities=u, mask=m)  # noqa: E731
        return jax.vmap(one)(utilities, mask, *arguments)

    return jax.jit(batched)


solve = {
    name: in_batches(getattr(maximise, name))
    for name in ("ring", "path", "tree", "successor", "brute_force", "max_plus")
}


def complete_edges(n: int) -> np.ndarray:
    """Every pair, every loop (i, i), and the first edges a second time, turned round."""
    edges = np.array([(i, j) for i in range(n) for j in range(i, n)], np.int32)
    return np.concatenate([edges, edges[:2, ::-1]])


def all_values(drawn: Problems, edges: np.ndarray, payoffs: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every joint action [k, n], and its value in each problem [b, k], -inf if not allowed."""
    n, a = drawn.utilities.shape[1:]
    joint = np.array(list(itertools.product(range(a), repeat=n)))
    b, who = np.arange(BATCH)[:, None], np.arange(n)
    total = np.zeros((BATCH, len(joint)))
    for e in range(payoffs.shape[1]):
        first, second = edges[:, e, 0], edges[:, e, 1]
        total += payoffs[b, e, joint[:, first].T, joint[:, second].T]
    total += drawn.utilities[b[..., None], who, joint[None]].sum(-1)
    allowed = drawn.mask[b[..., None], who, joint[None]].all(-1)
    return joint, np.where(allowed, total, -np.inf)


def tolerance(drawn: Problems, payoffs: np.ndarray) -> np.ndarray:
    """How far rounding may take a sum of these numbers, for each problem."""
    return 1e-5 + 2e-6 * (np.abs(payoffs).sum((1, 2, 3)) + np.abs(drawn.utilities).sum((1, 2)))


def assert_maximal(
    found: Maximum, drawn: Problems, edges: np.ndarray, payoffs: np.ndarray | None = None
) -> None:
    """The value is the largest, the actions are allowed and attain it, and are right if unique."""
    payoffs = drawn.payoffs if payoffs is None else payoffs
    joint, values = all_values(drawn, edges, payoffs)
    slack = tolerance(drawn, payoffs)
    best = values.max(1)
    assert (np.abs(np.asarray(found.value) - best) <= slack).all()
    np.testing.assert_array_equal(found.bound, found.value)
    a = drawn.utilities.shape[2]
    actions = np.asarray(found.actions)
    assert (actions >= 0).all()
    chosen = np.ravel_multi_index(tuple(actions.T), (a,) * actions.shape[1])
    assert (values[np.arange(BATCH), chosen] >= best - slack).all()
    unique = (values >= (best - 4 * slack)[:, None]).sum(1) == 1
    np.testing.assert_array_equal(actions[unique], joint[values.argmax(1)][unique])
