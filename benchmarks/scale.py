"""Runs per hour of seeds side by side and of processes, and of one run on two devices.

    python benchmarks/scale.py            # measure; the tables of docs/scale.md
    python benchmarks/scale.py --quick    # the same with a small game, in a few minutes
    python benchmarks/scale.py --table    # only compute: what grows how, from the real shapes

Measured are whole epochs, collecting and learning, after compilation; a run is all epochs of its
preset, without evaluations and checkpoints. Processes start an epoch at the same time, and the
slowest counts. The replay is small so that 16 of them fit into memory: its size costs no time.
"""

import argparse
import dataclasses
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from pairvdn.config import Config, load_preset
from pairvdn.runs.devices.distributed import Coordinator, connect
from pairvdn.runs.devices.shards import Shards
from pairvdn.runs.training import SeveralSeeds

SMALL_REPLAY = {"learner.replay_capacity": 16_384}
SEEDS = (1, 2, 4, 8, 16)
CORES = sorted(os.sched_getaffinity(0))


@dataclasses.dataclass(frozen=True)
class Job:
    """What one process trains, and on which cores it may run."""

    preset: str
    seeds: int = 1
    devices: int = 1
    cores: Sequence[int] = tuple(CORES)
    coordinator: tuple[str, int, int] | None = None  # of a run that several processes share


def work(job: Job, seconds: float) -> None:
    """In a process of its own: compile, say so, and time epochs when told to."""
    if job.coordinator is not None:
        connect(Coordinator(*job.coordinator), {})
    config = load_preset(job.preset).replace(SMALL_REPLAY)
    built = config.build()
    layout = Shards(None if job.coordinator else job.devices).layout(built, job.seeds)
    training = SeveralSeeds(built.learner, built.env, range(job.seeds), episodes=1, layout=layout)
    state = training.init()
    training.compile(state)
    state, _ = training.epoch(state)
    began = time.monotonic()
    state, _ = training.epoch(state)
    epochs = max(1, round(seconds / (time.monotonic() - began)))
    print(epochs, flush=True)
    epochs = int(sys.stdin.readline())  # agreed on with the others
    began = time.monotonic()
    for _ in range(epochs):
        state, _ = training.epoch(state)
    print(time.monotonic() - began, flush=True)


def start(job: Job, seconds: float) -> subprocess.Popen[str]:
    flags = f"--xla_force_host_platform_device_count={job.devices}"
    environment = os.environ | {"XLA_FLAGS": flags}
    command = [sys.executable, __file__, "--work", json.dumps(dataclasses.asdict(job))]
    return subprocess.Popen(
        ["taskset", "-c", ",".join(map(str, job.cores)), *command, "--seconds", str(seconds)],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def numbers(processes: Sequence[subprocess.Popen[str]]) -> Iterator[float]:
    """The next number that each process prints; libraries may print other lines."""
    for process in processes:
        assert process.stdout is not None
        for line in process.stdout:
            if line.replace(".", "", 1).strip().isdigit():
                yield float(line)
                break
        else:
            raise SystemExit(f"a process ended with code {process.wait()}")


def seconds_per_epoch(jobs: Sequence[Job], seconds: float) -> float:
    """All jobs at once; the slowest counts."""
    processes = [start(job, seconds) for job in jobs]
    epochs = int(min(numbers(processes)))
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{epochs}\n")
        process.stdin.flush()
    took = max(numbers(processes))
    for process in processes:
        process.communicate()
    return took / epochs


def runs_per_hour(preset: str, runs: int, seconds: float) -> float:
    return runs * 3600 / (seconds * load_preset(preset).epochs)


def compare_seeds(preset: str, seeds: Sequence[int], seconds: float) -> None:
    print(f"\n{preset}, {len(CORES)} cores\n")
    print("| processes | seeds in each | s per epoch | runs per hour | of one alone |")
    print("|---|---|---|---|---|")
    jobs = [[Job(preset, seeds=number)] for number in seeds]
    if len(CORES) > 1:
        jobs.append([Job(preset, cores=[core]) for core in CORES[:2]])
    first = None
    for together in jobs:
        took = seconds_per_epoch(together, seconds)
        rate = runs_per_hour(preset, sum(job.seeds for job in together), took)
        first = rate if first is None else first
        row(len(together), together[0].seeds, f"{took:.3f}", f"{rate:.2f}", f"{rate / first:.2f} x")


def compare_devices(preset: str, seconds: float) -> None:
    """The same run, divided: what two devices do in the time of one."""
    print(f"\n{preset}, one run\n")
    print("| | s per epoch | speed | efficiency |")
    print("|---|---|---|---|")
    with socket.create_server(("", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    two = CORES[:2]
    ways: dict[str, tuple[list[Job], int]] = {
        "1 device, 1 core": ([Job(preset, cores=two[:1])], 1),
        "1 device, 2 cores": ([Job(preset, cores=two)], 2),
        "2 devices of one process, 2 cores": ([Job(preset, devices=2, cores=two)], 2),
        "2 processes, 1 core each": (
            [Job(preset, cores=[core], coordinator=(address, i, 2)) for i, core in enumerate(two)],
            2,
        ),
    }
    first = None
    for label, (jobs, cores) in ways.items():
        took = seconds_per_epoch(jobs, seconds)
        first = took if first is None else first
        speed = first / took
        row(label, f"{took:.3f}", f"{speed:.2f} x", f"{speed / cores:.0%}")


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a run takes, from the shapes of its learner's state; nothing is run."""

    decision_bytes: int
    replay_bytes: int
    env_bytes: int  # of one environment, with what it remembers for the n-step return
    parameters: int
    gradient_bytes: int  # what devices exchange in one update
    steps: int
    updates: int


def cost(config: Config) -> Cost:
    learner = config.build().learner
    state = learner.shape()
    weights = [leaf for leaf in jax.tree.leaves(state.learned.value) if leaf.dtype.kind == "f"]
    return Cost(
        decision_bytes=size(state.replay.items) // learner.replay_capacity,
        replay_bytes=size(state.replay.items),
        env_bytes=size(state.collecting) // learner.collector.num_envs,
        parameters=sum(leaf.size for leaf in weights),
        gradient_bytes=size(weights) + 3 * 4,  # the loss, the TD error and the greedy value, too
        steps=learner.most_steps,
        updates=config.num_updates(),
    )


def size(tree: Any) -> int:
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def readable(number: float) -> str:
    """Bytes, as people say them."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:,.0f} {unit}" if unit == "B" else f"{number:,.1f} {unit}"
        number /= 1024
    return f"{number:,.1f} TiB"


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def agents_table(preset: str, agents: Sequence[int]) -> None:
    print("| agents | bytes a decision | replay | one environment | parameters | gradient |")
    print("|---|---|---|---|---|---|")
    for number in agents:
        found = cost(load_preset(preset).replace({"env.num_boxes": number}))
        row(
            f"{number:,}",
            f"{found.decision_bytes:,}",
            readable(found.replay_bytes),
            readable(found.env_bytes),
            f"{found.parameters:,}",
            readable(found.gradient_bytes),
        )


def envs_table(preset: str, numbers: Sequence[int], devices: Sequence[int]) -> None:
    heads = " | ".join(f"memory on each of {count}" for count in devices)
    print(f"| environments | steps an epoch | replay rows | replay | environments' own | {heads} |")
    print("|---|---|---|---|---|" + "---|" * len(devices))
    config = load_preset(preset)
    arguments = config.learner.arguments
    hold = arguments["action_repeat"]
    for number in numbers:
        # The replay must hold the largest block: the random agent steps of the start.
        rows = max(arguments["replay_capacity"], arguments["random_agent_steps"] * number)
        changes = {"learner.num_envs": number, "learner.replay_capacity": rows}
        found = cost(config.replace(changes | {"epochs": 1}))
        own = found.env_bytes * number
        row(
            f"{number:,}",
            f"{found.steps - arguments['random_agent_steps'] * number * hold:,}",
            f"{rows:,}",
            readable(found.replay_bytes),
            readable(own),
            *(readable((found.replay_bytes + own) / count) for count in devices),
        )


def runs_table(preset: str, runs: Sequence[int]) -> None:
    found = cost(load_preset(preset))
    print("| runs | steps | updates | replays in memory, side by side | checkpoints on disk |")
    print("|---|---|---|---|---|")
    for number in runs:
        row(
            f"{number:,}",
            f"{number * found.steps:,}",
            f"{number * found.updates:,}",
            readable(number * found.replay_bytes),
            # The newest two keep their replay.
            readable(2 * number * found.replay_bytes),
        )


def exchange_table(preset: str, devices: Sequence[int]) -> None:
    found = cost(load_preset(preset))
    print("| devices | sent by each, an update | sent by each, a run |")
    print("|---|---|---|")
    for count in devices:
        sent = 2 * (count - 1) / count * found.gradient_bytes
        row(count, readable(sent), readable(sent * found.updates))


TABLES: dict[str, Callable[[], None]] = {
    "agents": lambda: agents_table("box-jump/pairvdn", (16, 64, 256, 1000)),
    "environments": lambda: envs_table("box-jump/pairvdn", (128, 1_000, 10_000, 100_000), (1, 8)),
    "runs": lambda: runs_table("box-jump/pairvdn", (1, 8, 64, 1_000)),
    "exchange": lambda: exchange_table("box-jump/pairvdn", (2, 4, 8, 64)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small game, two seeds, 2 s a row")
    parser.add_argument("--table", action="store_true", help="print only what is computed")
    parser.add_argument("--presets", nargs="+", default=["aloha/vdn", "box-jump/pairvdn"])
    parser.add_argument("--seconds", type=float, default=20.0, help="of measuring, for each row")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work is not None:
        work(Job(**json.loads(arguments.work)), arguments.seconds)
        return
    if not arguments.table:
        presets = ["climbing/pairvdn"] if arguments.quick else arguments.presets
        seconds = 2.0 if arguments.quick else arguments.seconds
        for preset in presets:
            compare_seeds(preset, SEEDS[:2] if arguments.quick else SEEDS, seconds)
            if len(CORES) > 1:
                compare_devices(preset, seconds)
    for name, table in TABLES.items():
        print(f"\nComputed: {name}\n")
        table()


if __name__ == "__main__":
    main()
