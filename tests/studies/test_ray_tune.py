"""Tuning with early stopping on a cluster of one CPU, where trials come one after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import small_study

from pairvdn.studies import read_tuned
from pairvdn.studies.storage import Folder

pytest.importorskip("ray.tune")
pytestmark = [
    pytest.mark.slow,
    # Ray forks to start its processes, of which JAX warns if it has run in this one before.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

EPOCHS = 12
STUDY = small_study(
    tasks=["climbing"],
    fields={"epochs": EPOCHS, "evaluation": {"every": 1}},
    tune={
        "budget": 1.0,
        "seeds": 2,
        "early_stopping": {"grace": 2, "reduction": 2},
        "space": {"optimiser": {"learning_rate": [1e-2, 1e-9, 1e-10, 1e-11]}},
    },
)
(ROW,) = STUDY.rows.values()


@pytest.fixture(scope="module")
def one_cpu() -> Iterator[None]:
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def test_some_trials_end_early_and_study_run_finds_the_ranking(
    one_cpu: None, tmp_path: Path
) -> None:
    from pairvdn.studies.ray_tune import tune_with_ray

    said: list[str] = []
    found = tune_with_ray(STUDY, [ROW], Folder(tmp_path), "local", said.append)
    trials = found[ROW.name].trials
    assert said == ["tuning: climbing/vdn, 4 trials"]
    assert len(trials) == 4
    epochs = [trial.epochs for trial in trials]
    assert epochs[0] == EPOCHS
    assert epochs == sorted(epochs, reverse=True)
    assert min(epochs) < EPOCHS  # stopped early
    finished = [trial.mean for trial in trials if trial.epochs == EPOCHS]
    assert finished == sorted(finished, reverse=True)
    assert not list((tmp_path / "tune").rglob("checkpoints"))
    assert STUDY.tune is not None
    assert read_tuned(ROW, STUDY.tune, Folder(tmp_path)) == found[ROW.name]

    lines = {path: path.read_text() for path in tmp_path.rglob("metrics.jsonl")}
    assert len(lines) == 2 * 4
    assert tune_with_ray(STUDY, [ROW], Folder(tmp_path), "local", said.append) == found
    for path, text in lines.items():  # nothing is trained again
        assert path.read_text() == text
