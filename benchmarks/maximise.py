"""Time of one maximisation, its growth with agents and actions, and max-plus on any graph.

Wall clock of one thread, all in one process; ratios mean more than the numbers themselves.

    python benchmarks/maximise.py
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pairvdn import maximise
from pairvdn.config import load_preset
from pairvdn.maximise.eliminate import elimination_plan

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
    return {
        "ring": lambda p, _: maximise.ring(p),
        "ring, value only": lambda p, _: maximise.ring(p).value,
        "path": lambda p, _: maximise.path(p[1:]),
        "successor": maximise.successor,
        "tree": lambda p, s: maximise.tree(p, jnp.minimum(s, jnp.arange(n))),
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


def graphs() -> dict[str, tuple[int, int, np.ndarray]]:
    """Agents, actions and edges of graphs with many cycles."""

    def of_preset(name: str) -> np.ndarray:
        return np.array(load_preset(name).method.arguments["graph"], np.int32)

    def complete(n: int) -> np.ndarray:
        return np.stack(np.triu_indices(n, 1), axis=1).astype(np.int32)

    return {
        "ring of 16": (16, 4, np.asarray(maximise.ring_edges(16))),
        "Aloha": (10, 2, of_preset("aloha/dcg")),
        "Sensor": (15, 9, of_preset("sensor/dcg")),
        "complete, 6 agents": (6, 4, complete(6)),
        "complete, 8 agents": (8, 4, complete(8)),
    }


def any_graph() -> None:
    """Time and quality of elimination and max-plus, random tables, batch 256."""
    print("\nAny graph, batch 256\n")
    print(
        "| graph | a | width | eliminate, µs | max_plus, µs | without sweeps, µs "
        "| optimal | without sweeps | bound above |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (n, a, edges) in graphs().items():
        plan = elimination_plan(tuple(map(tuple, edges.tolist())), n, n)
        payoffs = jax.random.normal(jax.random.key(n), (256, len(edges), a, a))

        def batched(method: Any, edges: np.ndarray = edges, **more: Any) -> Any:
            return jax.jit(jax.vmap(lambda p: method(p, edges, **more)))

        def answers(method: Any, edges: np.ndarray = edges, **more: Any) -> Any:
            """Without the bound."""
            return jax.jit(
                jax.vmap(lambda p: (lambda m: (m.actions, m.value))(method(p, edges, **more)))
            )

        times = [
            microseconds(run, payoffs, repeat=3) / 256
            for run in (
                answers(maximise.eliminate),
                answers(maximise.max_plus),
                answers(maximise.max_plus, sweeps=0),
            )
        ]
        exact = batched(maximise.eliminate)(payoffs).value
        found = batched(maximise.max_plus)(payoffs)
        bare = batched(maximise.max_plus, sweeps=0)(payoffs)
        optimal = [np.isclose(x.value, exact, rtol=1e-5).mean() for x in (found, bare)]
        excess = ((found.bound - exact) / exact).mean()
        print(
            f"| {name} | {a} | {plan.width} | "
            + " | ".join(f"{t:.1f}" for t in times)
            + " | "
            + " | ".join(f"{100 * share:.0f} %" for share in optimal)
            + f" | {100 * excess:.1f} % |",
            flush=True,
        )


if __name__ == "__main__":
    against_numpy()
    growth()
    any_graph()
