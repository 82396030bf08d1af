"""Time of one maximisation, its growth with agents and actions, and the quality of max-plus.

Wall clock of one thread, all in one process; ratios mean more than the numbers themselves.

    python benchmarks/maximise.py
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from pairvdn import maximise

BATCH = 1024


def numpy_ring(payoffs: np.ndarray) -> tuple[np.ndarray, float]:
    """The same dynamic program as a plain loop, for one example."""
    n = len(payoffs)
    best, choices = payoffs[0], []
    for k in range(1, n - 1):
        candidates = best[:, :, None] + payoffs[k][None]
        choices.append(candidates.argmax(axis=1))
        best = candidates.max(axis=1)
    closed = best + payoffs[-1].T
    first, last = np.unravel_index(closed.argmax(), closed.shape)
    actions = [last]
    for choice in reversed(choices):
        actions.append(choice[first, actions[-1]])
    return np.array([first, *reversed(actions)]), float(closed[first, last])


def microseconds(function: Callable[..., object], *arguments: object, repeat: int = 20) -> float:
    """Wall clock of one call on one thread: the smallest of five means over many calls.

    Not CPU time: a thread that waits for XLA spins, and would count twice.
    """
    jax.block_until_ready(function(*arguments))
    means = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(repeat):
            jax.block_until_ready(function(*arguments))
        means.append((time.perf_counter() - start) / repeat)
    return 1e6 * min(means)


def methods(n: int) -> dict[str, Callable[[jax.Array, jax.Array], maximise.Maximum]]:
    edges = maximise.ring_edges(n)
    return {
        "ring": lambda p, _: maximise.ring(p),
        "ring, value only": lambda p, _: maximise.ring(p).value,
        "path": lambda p, _: maximise.path(p[1:]),
        "successor": maximise.successor,
        "tree": lambda p, s: maximise.tree(p, jnp.minimum(s, jnp.arange(n))),
        "max_plus": lambda p, _: (lambda m: (m.actions, m.value))(maximise.max_plus(p, edges)),
        "max_plus with bound": lambda p, _: maximise.max_plus(p, edges),
    }


def problem(n: int, a: int, batch: int = BATCH) -> tuple[jax.Array, jax.Array]:
    payoffs = jax.random.normal(jax.random.key(n * a), (batch, n, a, a))
    # `tree` turns successors into parents: no parent has a larger index than its child.
    successors = jax.random.randint(jax.random.key(n + a), (batch, n), 0, n, jnp.int32)
    return payoffs, successors


def against_numpy() -> None:
    n, a = 16, 4
    payoffs, successors = problem(n, a)
    some = np.asarray(payoffs[:64])
    loop = microseconds(lambda: [numpy_ring(x) for x in some] and None, repeat=4) / len(some)
    print(f"\nOne example, batch {BATCH}, n = {n}, a = {a}\n")
    print("| method | µs per example | against the NumPy loop | compile, s |")
    print("|---|---|---|---|")
    print(f"| NumPy loop, one by one | {loop:.1f} | 1 | |")
    for name, method in methods(n).items():
        start = time.perf_counter()
        compiled = jax.jit(jax.vmap(method)).lower(payoffs, successors).compile()
        compiling = time.perf_counter() - start
        each = microseconds(compiled, payoffs, successors) / BATCH
        print(f"| {name} | {each:.2f} | {loop / each:.0f} | {compiling:.1f} |")


def growth() -> None:
    sizes = [(4, 4), (16, 4), (64, 4), (256, 4), (16, 2), (16, 8), (16, 16)]
    print("\nµs per example, batch 256\n")
    print("| n | a | " + " | ".join(methods(2)) + " |")
    print("|---|---|" + "---|" * len(methods(2)))
    for n, a in sizes:
        payoffs, successors = problem(n, a, 256)
        times = [
            microseconds(jax.jit(jax.vmap(m)), payoffs, successors, repeat=10) / 256
            for m in methods(n).values()
        ]
        print(f"| {n} | {a} | " + " | ".join(f"{t:.2f}" for t in times) + " |")


def quality() -> None:
    print("\nmax_plus, 8 iterations, on 2000 random rings\n")
    print("| n | a | optimal answers | bound above the maximum |")
    print("|---|---|---|---|")
    for n, a in ((3, 5), (8, 5), (16, 4), (16, 9)):
        payoffs, _ = problem(n, a, 2000)
        exact = jax.jit(jax.vmap(maximise.ring))(payoffs).value
        edges = maximise.ring_edges(n)
        found = jax.jit(jax.vmap(lambda p, e=edges: maximise.max_plus(p, e)))(payoffs)
        optimal = np.isclose(found.value, exact, rtol=1e-5).mean()
        excess = ((found.bound - exact) / exact).mean()
        print(f"| {n} | {a} | {100 * optimal:.0f} % | {100 * excess:.1f} % |")


if __name__ == "__main__":
    against_numpy()
    growth()
    quality()
