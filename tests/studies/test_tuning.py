"""The protocol of `[tune]`: the same trials for every row, then its best one with fresh seeds."""

import dataclasses
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from small_studies import TINY, small_study, states

from pairvdn.config.errors import ConfigError
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import FolderError, Interrupted
from pairvdn.runs.metrics import to_line
from pairvdn.studies import (
    Event,
    Here,
    Processes,
    ResultsFile,
    Status,
    Study,
    read_tuned,
    run_study,
    storage,
    study_table,
    trial_cells,
    tune_rows,
)
from pairvdn.studies.search import FIRST_SEED, Draw, Search
from pairvdn.studies.storage import Folder
from pairvdn.studies.tuning import Tuned, decide

TUNE: dict[str, Any] = {
    "budget": 0.5,
    "seeds": 2,
    "space": {"learner": {"n_step": [1, 3]}, "optimiser": {"learning_rate": [1e-3, 1e-2]}},
}
CHANGES: dict[str, Any] = {
    "tasks": ["simple-spread"],  # its returns are hardly ever equal
    "methods": ["vdn", "iql"],
    "column": "return",
    "evaluation": {"episodes": 3},
    "tune": TUNE,
}
STUDY = small_study(**CHANGES)
SEARCH = STUDY.tune
assert SEARCH is not None


def run(study: Study, out: Path | str, executor: Any = None, also: Any = None) -> dict[str, Status]:
    place = storage(str(out))

    def on_event(name: str, event: Event) -> None:
        if also is not None:
            also(name, event)

    results = ResultsFile(place, "results.json")
    return run_study(study, study.rows.values(), place, results, executor or Here(), on_event)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuned")
    run(STUDY, folder)
    return folder


def results_of(out: Path) -> dict[str, Any]:
    return ResultsFile(Folder(out), "results.json").read()


def test_trials_are_all_combinations_or_a_fixed_draw_of_them() -> None:
    lists = {"a": Draw("list", (1, 2, 3)), "b": Draw("list", ("x", "y"))}
    every = Search(lists).trials()
    assert len(every) == 6
    assert every[0] == {"a": 1, "b": "x"}
    some = Search(lists, samples=4).trials()
    assert len({tuple(trial.values()) for trial in some}) == 4  # none twice
    assert all(trial in every for trial in some)
    assert some == Search(lists, samples=4).trials()
    assert some != Search(lists, samples=4, seed=1).trials()
    assert Search(lists, samples=99).trials() == every
    assert len({tuple(trial.values()) for trial in Search(lists, samples=5).trials()}) == 5
    four = {name: Draw("list", (0, 1)) for name in "abcd"}
    half = Search(four, samples=8).trials()
    assert [sum(trial[name] for trial in half) for name in four] == [4, 4, 4, 4]


def test_trials_are_drawn_from_ranges() -> None:
    space = {
        "rate": Draw("log", (1e-4, 1e-2)),
        "share": Draw("uniform", (0.2, 0.4)),
        "steps": Draw("integers", (1, 3)),
        "loss": Draw("list", ("huber", "squared")),
    }
    trials = Search(space, samples=200).trials()
    rates = [trial["rate"] for trial in trials]
    assert min(rates) >= 1e-4
    assert max(rates) <= 1e-2
    assert sum(rate < 1e-3 for rate in rates) == 100  # half of them, on a log scale
    assert all(0.2 <= trial["share"] <= 0.4 for trial in trials)
    assert {trial["steps"] for trial in trials} == {1, 2, 3}
    assert {trial["loss"] for trial in trials} == {"huber", "squared"}
    with pytest.raises(ValueError, match="samples is needed, because the space has a range"):
        Search(space)


def test_every_row_has_the_same_trials_at_a_share_of_its_epochs() -> None:
    by_row = [trial_cells(row, SEARCH) for row in STUDY.rows.values()]
    assert [len(cells) for cells in by_row] == [4, 4]
    for cells, method in zip(by_row, ("vdn", "iql"), strict=True):
        assert [cell.name for cell in cells] == [
            f"tune/simple-spread/{method}/trial-{k}" for k in range(4)
        ]
        assert {cell.config.epochs for cell in cells} == {2}
        assert cells[0].seeds() == [FIRST_SEED, FIRST_SEED + 1]
        drawn = [
            (
                cell.config.learner.arguments["n_step"],
                cell.config.optimiser.arguments["learning_rate"],
            )
            for cell in cells
        ]
        assert drawn == [(1, 1e-3), (1, 1e-2), (3, 1e-3), (3, 1e-2)]


def test_the_best_trial_is_trained_with_the_seeds_of_the_row_and_stands_in_the_results(
    out: Path,
) -> None:
    results = results_of(out)
    assert results["tune"]["seeds"] == [FIRST_SEED, FIRST_SEED + 1]
    assert len(results["tune"]["trials"]) == 4
    for name, row in STUDY.rows.items():
        numbers = results["rows"][name]
        tuned = read_tuned(row, SEARCH, Folder(out))
        assert tuned is not None
        assert numbers["tuned"] == tuned.to_dict()
        assert numbers["tuned"]["fields"] == tuned.trials[0].fields
        means = [trial.mean for trial in tuned.trials]
        assert means == sorted(means, reverse=True)
        assert all(len(trial.values) == 2 for trial in tuned.trials)
        assert all(trial.epochs == 2 for trial in tuned.trials)
        assert tuned.cost["updates"] == 4 * 2 * 2 * 2  # trials, seeds, epochs, updates each
        for field, value in tuned.best.fields.items():
            assert f"--{field.replace('_', '-')} {value}" in numbers["command"]
        config = (out / name / "config.toml").read_text()
        assert f"n_step = {tuned.best.fields['learner.n_step']}\n" in config
        assert "epochs = 4\n" in config
        assert numbers["command"].endswith("--seed 0")


def test_the_settings_stand_beside_the_result(out: Path) -> None:
    results = results_of(out)
    lines = study_table(STUDY, results["rows"])
    assert lines[0] == ["learner.n_step, optimiser.learning_rate", "`simple-spread`"]
    for line, method in zip(lines[2:], STUDY.methods, strict=True):
        fields = results["rows"][f"simple-spread/{method}"]["tuned"]["fields"]
        chosen = f"{fields['learner.n_step']}, {fields['optimiser.learning_rate']}"
        assert f"]<br>{chosen}" in line[1]
    by_row = dataclasses.replace(STUDY, column=None)
    assert study_table(by_row, results["rows"])[0] == ["", "seeds", "return", "settings"]
    assert study_table(by_row, results["rows"])[1][-1] == "–"  # the random policy
    assert study_table(by_row, results["rows"])[2][-1].startswith("learner.n_step = ")


def test_trials_keep_their_metrics_and_no_checkpoint(out: Path) -> None:
    runs = sorted((out / "tune").rglob("metrics.jsonl"))
    assert len(runs) == 2 * 4 * 2
    assert not list((out / "tune").rglob("checkpoints"))
    assert list((out / "simple-spread").rglob("epoch-000004"))


def test_a_second_call_changes_nothing(out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    statuses = run(STUDY, out)
    assert states(statuses) == {
        "simple-spread/vdn/seed-0": "finished before",
        "simple-spread/iql/seed-0": "finished before",
    }
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()} == before


def test_finished_trials_are_not_trained_again(out: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    def stop_in_the_third_trial(name: str, event: Event) -> None:
        seen.append(name)
        if name.endswith("trial-2") and isinstance(event, Report):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        run(STUDY, tmp_path, also=stop_in_the_third_trial)
    assert not (tmp_path / "results.json").exists()
    statuses = run(STUDY, tmp_path)
    assert [states(statuses)[f"tune/simple-spread/vdn/trial-{k}"] for k in range(4)] == [
        "finished before",
        "finished before",
        "finished",
        "finished",
    ]

    def without_clock(folder: Path) -> Any:
        rows = results_of(folder)["rows"]
        for row in rows.values():
            del row["cost"]["seconds"], row["tuned"]["cost"]["seconds"]
        return rows

    assert without_clock(tmp_path) == without_clock(out)


def test_processes_choose_the_same(out: Path, tmp_path: Path) -> None:
    place = storage(f"file://{tmp_path}")
    row = STUDY.rows["simple-spread/iql"]
    said: list[Event] = []
    found, statuses = tune_rows(
        [row], SEARCH, place, Processes(2), lambda _, event: said.append(event)
    )
    stored = read_tuned(row, SEARCH, Folder(out))
    assert stored is not None
    assert found["simple-spread/iql"].trials == stored.trials
    assert set(states(statuses).values()) == {"finished"}
    assert any(
        isinstance(one, str) and one.startswith("tuned: simple-spread/iql: learner.n_step")
        for one in said
    )
    assert not list(tmp_path.rglob("checkpoints/*"))


def test_another_protocol_is_refused(out: Path) -> None:
    before = (out / "results.json").read_text()
    for changes in ({"budget": 0.25}, {"seeds": 3}, {"samples": 3}):
        with pytest.raises(FolderError, match=r"results of other settings \(tune\)"):
            run(small_study(**CHANGES | {"tune": TUNE | changes}), out)
    with pytest.raises(FolderError, match=r"results of other settings \(tune\)"):
        run(small_study(**{key: value for key, value in CHANGES.items() if key != "tune"}), out)
    other = small_study(**CHANGES, fields={"learner": {"num_envs": 8}})
    with pytest.raises(
        FolderError, match=r"simple-spread/vdn was tuned with other settings \(learner\)"
    ):
        run(other, out)
    assert (out / "results.json").read_text() == before


def test_early_stopping_has_a_command_of_its_own(tmp_path: Path) -> None:
    study = small_study(**CHANGES | {"tune": TUNE | {"early_stopping": {"grace": 1}}})
    with pytest.raises(FolderError, match=r"is not tuned yet.*study tune small --ray local"):
        run(study, tmp_path)


def trial_metrics(out: Path, cell: Any, *ends: dict[str, Any]) -> None:
    """Write metrics of each run of a trial, with this last line."""
    for name, end in zip(cell.runs(), ends, strict=True):
        line = {"diverged": False, "env_steps": 10, "updates": 4, "clock": {"seconds": 2}}
        lines = [{"epoch": 1, **line}, {"epoch": 2, **line, **end}]
        (out / name).mkdir(parents=True)
        (out / name / "metrics.jsonl").write_text("".join(map(to_line, lines)))


def decided_by(out: Path, study: Study, *returns: tuple[float, float] | None) -> Tuned:
    """The ranking of a row whose trials ended with these returns of both seeds; None: diverged."""
    assert study.tune is not None
    row = study.rows["simple-spread/vdn"]
    cells = trial_cells(row, study.tune)
    for cell, values in zip(cells, returns, strict=True):
        lines = [
            {"evaluation": {"mean": one, "values": [one]}, "diverged": values is None}
            for one in values or (50.0, 50.0)
        ]
        trial_metrics(out, cell, *lines)
    tuned = decide(row, study.tune, cells, Folder(out))
    if tuned.is_decided:
        assert read_tuned(row, study.tune, Folder(out)) == tuned
    return tuned


def test_the_mean_over_seeds_decides_and_a_diverged_trial_loses(tmp_path: Path) -> None:
    tuned = decided_by(tmp_path, STUDY, (1.0, 2.0), (9.0, -9.0), (3.0, 1.0), None)
    assert [trial.name[-1] for trial in tuned.trials] == ["2", "0", "1", "3"]
    assert tuned.best.fields == {"learner.n_step": 3, "optimiser.learning_rate": 1e-3}
    assert tuned.best.values == (3.0, 1.0)
    assert tuned.is_decided
    assert tuned.trials[-1].values == ()
    assert tuned.cost == {"seconds": 8, "env_steps": 80, "updates": 32}


def test_a_shared_best_return_decides_nothing(tmp_path: Path) -> None:
    nothing = (0.0, 0.0)
    single = decided_by(tmp_path / "single", STUDY, nothing, (0.0, 1.0), nothing, (-9.0, -9.0))
    assert [trial.name[-1] for trial in single.trials] == ["1", "0", "2", "3"]
    assert single.is_decided
    shared = decided_by(tmp_path / "shared", STUDY, nothing, (-1.0, 0.0), nothing, None)
    assert not shared.is_decided
    row = STUDY.rows["simple-spread/vdn"]
    assert read_tuned(row, SEARCH, Folder(tmp_path / "shared")) is None  # longer trials decide


# The squared loss has no delta, so the trials return the same.
EQUAL: dict[str, Any] = {**TUNE, "space": {"learner": {"huber_delta": [1.0, 2.0]}}}


def test_equal_trials_are_trained_again_with_the_whole_budget(tmp_path: Path) -> None:
    study = small_study(
        **CHANGES | {"methods": ["vdn"], "tune": EQUAL},
        fields={"learner": TINY["learner"] | {"loss": "squared"}},
    )
    statuses = run(study, tmp_path)
    assert set(statuses) == {
        *(f"tune/simple-spread/vdn/trial-{index}" for index in range(2)),
        *(f"tune/simple-spread/vdn/whole/trial-{index}" for index in range(2)),
        *(f"simple-spread/vdn/seed-{seed}" for seed in study.rows["simple-spread/vdn"].seeds),
    }
    tuned = results_of(tmp_path)["rows"]["simple-spread/vdn"]["tuned"]
    assert [trial["epochs"] for trial in tuned["trials"]] == [4, 4]
    assert tuned["decided"] is False  # equal again: the first one
    assert tuned["fields"] == {"learner.huber_delta": 1.0}
    again = run(study, tmp_path)
    assert set(states(again).values()) == {"finished before"}


def test_a_row_without_a_best_trial_says_so_in_the_table(out: Path) -> None:
    rows = results_of(out)["rows"]
    rows["simple-spread/vdn"]["tuned"]["decided"] = False
    rows["simple-spread/iql"]["tuned"]["decided"] = True
    vdn, iql = (line[1] for line in study_table(STUDY, rows)[2:])
    assert vdn.endswith(" (undecided)")
    assert "undecided" not in iql


def test_a_failed_trial_stops_its_row_and_no_other(tmp_path: Path) -> None:
    broken = trial_cells(STUDY.rows["simple-spread/vdn"], SEARCH)[1]
    (tmp_path / broken.name).mkdir(parents=True)
    (tmp_path / broken.name / "config.toml").write_text("epochs = 7\n")
    statuses = run(STUDY, tmp_path)
    assert "trained with other settings" in statuses[broken.name].reason
    assert list(results_of(tmp_path)["rows"]) == ["simple-spread/iql"]
    assert "simple-spread/vdn/seed-0" not in statuses


def test_a_seed_of_a_row_is_no_tuning_seed() -> None:
    with pytest.raises(ConfigError, match=r"seed 10000 is in tune\.seeds"):
        small_study(**CHANGES | {"seeds": [FIRST_SEED]})
