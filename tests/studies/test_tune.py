"""A small search with Ray Tune on a cluster of one CPU, where trials come one after the other."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import small_study

from pairvdn.config import Config
from pairvdn.studies.storage import Folder

pytest.importorskip("ray.tune")
pytestmark = [
    pytest.mark.slow,
    # Ray forks to start its processes, of which JAX warns if it has run in this one before.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

EPOCHS = 12
# The return is a sum of distances, all negative: long episodes are worse, whatever is learned.
STUDY = small_study(
    tasks=["simple-spread"],
    seeds=2,
    fields={"epochs": EPOCHS, "env": {"num_agents": 2}, "evaluation.episodes": 2},
    tune={
        "samples": 5,
        "grace": 2,
        "reduction": 2,
        "seed": 1,  # draws 2, 2, 20, 20, -1
        "space": {"env": {"max_steps": {"choice": [-1, 2, 20]}}},
    },
)


@pytest.fixture(scope="module")
def one_cpu() -> Iterator[None]:
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def test_the_best_is_found_and_bad_trials_end_early(one_cpu: None, tmp_path: Path) -> None:
    from pairvdn.studies.tune import tune

    said: list[str] = []
    (found,) = tune(STUDY, STUDY.rows.values(), Folder(tmp_path), "local", said.append)
    assert found.name == "simple-spread/vdn"
    by_length = {
        steps: [t for t in found.trials if t.fields["env.max_steps"] == steps] for steps in (2, 20)
    }
    assert len(by_length[2]) + len(by_length[20]) == len(found.trials)
    assert all(trial.epochs == EPOCHS for trial in by_length[2])
    assert min(trial.epochs for trial in by_length[20]) == 2
    assert min(t.value for t in by_length[2]) > max(t.value for t in by_length[20])
    misfits = [message for message in said if message.startswith("warning")]
    assert len(misfits) == 5 - len(found.trials) > 0
    assert all("failed: env: max_steps must be at least" in message for message in misfits)
    best = Config.from_toml((tmp_path / found.best).read_text())
    assert best.env.arguments["max_steps"] == 2
    ranking = json.loads((tmp_path / "tune/simple-spread/vdn/tune.json").read_text())
    assert [one["name"] for one in ranking] == [trial.name for trial in found.trials]

    lines = {path: path.read_text() for path in tmp_path.rglob("metrics.jsonl")}
    (again,) = tune(STUDY, STUDY.rows.values(), Folder(tmp_path), "local", said.append)
    assert again == found
    assert len(lines) == 2 * len(found.trials)
    for path, text in lines.items():  # nothing is trained again
        assert path.read_text() == text
