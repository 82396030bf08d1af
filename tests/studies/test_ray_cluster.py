"""Cells on a real Ray cluster of several nodes on this machine, one of which is killed."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_studies import cells_of, metrics, ran, states

from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import Interrupted
from pairvdn.studies import Cell, Event, Here, Processes, RayCluster, Resources, Status
from pairvdn.studies.storage import Folder, Storage, storage

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    # Ray's own: sockets and files that it leaves to the end of the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]

# Long enough to be hit in the middle: some seconds even on an idle machine, with a checkpoint about
# every tenth of one. Both cells start within a second or so.
LONG = 6000
LONG_CELLS = cells_of(
    methods=["vdn", "iql"], fields={"epochs": LONG, "evaluation": {"every": LONG // 3}}
)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head that only organises, and two nodes that can train one cell each."""
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_worker_niceness", "0")  # else it starves on a busy machine
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    quick_to_notice = {"health_check_period_ms": 500, "health_check_initial_delay_ms": 0}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "_system_config": quick_to_notice, **small},
    )
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    cluster.wait_for_nodes()
    yield cluster
    with contextlib.suppress(Exception):
        ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Storage:
    place = Folder(tmp_path_factory.mktemp("undisturbed"))
    ran(LONG_CELLS, place, Here())
    return place


def executor(cluster) -> RayCluster:
    return RayCluster(cluster.address, Resources(cpus=1.0, retries=3))


def test_a_study_gives_the_same_bits_wherever_it_is_trained(cluster, tmp_path: Path) -> None:
    cells = cells_of(tasks=["climbing", "wall"], methods=["vdn", "iql"], seeds=2)
    assert len(cells) == 8
    results = {}
    executors = {"here": Here(), "processes": Processes(2), "ray": executor(cluster)}
    for name, one in executors.items():
        statuses, _ = ran(cells, Folder(tmp_path / name), one)
        assert set(states(statuses).values()) == {"finished"}
        results[name] = metrics(tmp_path / name, cells)
    assert results["ray"] == results["here"] == results["processes"]
    statuses, _ = ran(cells, Folder(tmp_path / "ray"), executors["ray"])
    assert set(states(statuses).values()) == {"finished before"}


class KillANode:
    """Kills a node, hard, when every cell is in the middle."""

    def __init__(self, cluster) -> None:
        self._cluster = cluster
        self._epochs: dict[str, int] = {}
        self.killed_at: dict[str, int] = {}

    def __call__(self, name: str, event: Event) -> None:
        if self.killed_at or not isinstance(event, Report):
            return
        self._epochs[name] = event.epoch
        epochs = self._epochs.values()
        if len(epochs) == len(LONG_CELLS) and LONG // 20 < min(epochs) <= max(epochs) < LONG // 2:
            self.killed_at = dict(self._epochs)
            node = self._cluster.worker_nodes.copy().pop()
            self._cluster.remove_node(node, allow_graceful=False)


@pytest.mark.parametrize("kind", ["folder", "mirror"])
def test_a_killed_node_costs_only_what_came_after_a_checkpoint(
    kind: str, undisturbed: Storage, cluster, tmp_path: Path
) -> None:
    places = {"folder": str(tmp_path / "disturbed"), "mirror": f"file://{tmp_path}/disturbed"}
    place = storage(places[kind])
    kill = KillANode(cluster)
    statuses, events = ran(LONG_CELLS, place, executor(cluster), kill)
    assert set(states(statuses).values()) == {"finished"}
    assert kill.killed_at, "no moment at which both cells were in the middle"
    starts = [name for name, event in events if event == Status("running")]
    assert len(starts) == len(LONG_CELLS) + 1
    (again,) = (
        int(event.split()[3])
        for _, event in events
        if isinstance(event, str) and event.startswith("resuming after epoch")
    )
    assert again > 0
    assert metrics(place, LONG_CELLS) == metrics(undisturbed, LONG_CELLS)


def test_a_failed_cell_does_not_stop_the_others(cluster, tmp_path: Path) -> None:
    good = cells_of()[0]
    misfit = Cell("misfit", good.config.replace({"learner.batch_size": 10_000}))
    statuses, _ = ran([misfit, good], Folder(tmp_path), executor(cluster))
    assert states(statuses) == {"misfit": "failed", good.name: "finished"}
    assert "replay_capacity" in statuses["misfit"].reason


def test_control_c_saves_what_runs_and_starts_nothing_more(
    undisturbed: Storage, cluster, tmp_path: Path
) -> None:
    place: Storage = Folder(tmp_path / "stopped")
    cells = [*LONG_CELLS, *cells_of(seeds=[5, 6])]
    asked: list[str] = []

    def press(name: str, event: Event) -> None:
        if isinstance(event, Report) and event.epochs == LONG and not asked:
            asked.append(name)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted):
        ran(cells, place, executor(cluster), press)
    saved = list((tmp_path / "stopped").rglob("epoch-*"))
    assert saved
    assert f"epoch-{LONG:06d}" not in [path.name for path in saved]
    assert not (tmp_path / "stopped" / cells[-1].name).exists()
    statuses, _ = ran(cells, place, executor(cluster))
    assert set(states(statuses).values()) == {"finished"}
    assert metrics(place, LONG_CELLS) == metrics(undisturbed, LONG_CELLS)
