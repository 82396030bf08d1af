"""Runs on disk become numbers: always the same ones, and never those of another checkpoint."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from small_runs import BOXES, GAME, train_small

from pairvdn.envs import make
from pairvdn.evaluation import play_greedy
from pairvdn.experiment import ConfigError, load
from pairvdn.experiment.compare import compare, task_labels
from pairvdn.experiment.curves import OVER_EPISODES, OVER_SEEDS, learning_curve, shading
from pairvdn.experiment.errors import RunError
from pairvdn.experiment.evaluate import Settings, evaluate, moments
from pairvdn.experiment.folder import read_config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    train_small("climbing/vdn", root / "vdn", GAME, seeds=3)
    train_small("climbing/iql", root / "iql", GAME, seeds=2)
    train_small("box-jump/pairvdn-sorted", root / "boxes", BOXES)
    return root


def test_the_same_numbers_twice_and_from_a_copy(folder: Path, tmp_path: Path) -> None:
    settings = Settings(episodes=3, max_steps=12)
    first = evaluate(folder / "boxes", settings)
    assert evaluate(folder / "boxes", settings) == first
    copy = Path(shutil.copytree(folder / "boxes", tmp_path / "copy"))
    assert {**evaluate(copy, settings), "run": ""} == {**first, "run": ""}
    shutil.rmtree(copy / "evaluations")
    assert {**evaluate(copy, settings), "run": ""} == {**first, "run": ""}


def test_the_numbers_are_those_of_the_loaded_value(folder: Path) -> None:
    loaded = load(folder / "boxes")
    env = make("box-jump", **{**loaded.config.env.arguments, "max_steps": 12})
    played = play_greedy(
        env, loaded.value, episodes=3, seed=5, action_hold=loaded.action_hold, moments=(8, 12)
    )
    evaluated = evaluate(folder / "boxes", Settings(episodes=3, max_steps=12, seed=5))
    assert evaluated["return"]["values"] == played.returns.tolist()
    heights = evaluated["extra"]["measures"]["best_height"]
    assert list(heights) == ["8", "12"]
    assert heights["12"]["values"] == played.measures["best_height"][12].tolist()
    assert evaluated["max_steps"] == 12
    assert len(evaluated["random"]["values"]) == 30


def test_a_result_is_kept_and_not_taken_for_that_of_other_parameters(
    folder: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(folder / "vdn" / "seed-0", tmp_path / "run"))
    settings = Settings(episodes=2)
    first = evaluate(run, settings)
    (file,) = (run / "evaluations").glob("last-*-2-*.json")
    assert json.loads(file.read_text()) == first
    stale = {**first, "extra": {**first["extra"], "fingerprint": "other"}, "return": None}
    file.write_text(json.dumps(stale))
    assert evaluate(run, settings) == first
    file.write_text("{")
    assert evaluate(run, settings) == first


def test_several_seeds_count_one_number_each(folder: Path) -> None:
    together = evaluate(folder / "vdn", Settings(episodes=4))
    single = [evaluate(folder / "vdn" / f"seed-{seed}", Settings(episodes=4)) for seed in range(3)]
    assert together["interval_over"] == "seeds"
    assert {one["interval_over"] for one in single} == {"episodes"}
    assert together["return"]["values"] == [one["return"]["mean"] for one in single]
    assert together["extra"]["seeds"] == 3
    assert together["random"] == single[0]["random"]


def test_last_and_best_are_told_apart(folder: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(folder / "vdn" / "seed-1", tmp_path / "run"))
    assert evaluate(run, Settings(checkpoint="last"))["extra"]["epochs"] == [4]
    best = evaluate(run, Settings(checkpoint="best"))
    assert best["checkpoint"] == "best"
    assert best["extra"]["epochs"] == [load(run, "best").epoch]
    shutil.rmtree(run / "checkpoints" / "best")
    with pytest.raises(RunError, match="no best checkpoint"):
        evaluate(run, Settings(checkpoint="best", episodes=3))


def test_a_run_that_diverged_is_counted(folder: Path, tmp_path: Path) -> None:
    runs = Path(shutil.copytree(folder / "vdn", tmp_path / "runs"))
    metrics = runs / "seed-1" / "metrics.jsonl"
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    lines[-1]["diverged"] = True
    metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))
    evaluated = evaluate(runs, Settings(episodes=5))
    assert (evaluated["extra"]["diverged"], evaluated["extra"]["seeds"]) == (1, 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"episodes": 0}, "episodes must be from 1"),
        ({"seed": -1}, "seed must be from 0"),
        ({"max_steps": 0}, "max-steps must be from 1"),
    ],
)
def test_wrong_settings_are_named(wrong: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Settings(**wrong)


def test_moments_are_the_end_of_training_and_the_end() -> None:
    assert moments(400, 1000) == (400, 1000)
    assert moments(400, 400) == (400,)
    assert moments(400, 100) == (100,)


def test_compare_puts_methods_of_a_task_side_by_side(folder: Path) -> None:
    runs = [folder / "vdn", folder / "iql" / "seed-0", folder / "iql" / "seed-1"]
    comparison = compare(runs, Settings(episodes=2))
    first, second = comparison.rows
    assert (first.method, first.seeds, second.method, second.seeds) == ("vdn", 3, "iql", 2)
    assert first.better.value == 0.5  # against itself
    values = evaluate(folder / "vdn", Settings(episodes=2))["return"]["values"]
    assert first.mean.value == pytest.approx(np.mean(values))
    assert comparison.over_tasks == {}


def test_compare_over_tasks_needs_several_that_both_have(folder: Path, tmp_path: Path) -> None:
    train_small("penalty/vdn", tmp_path / "vdn", GAME, seeds=2)
    train_small("penalty/iql", tmp_path / "iql", GAME, seeds=2)
    runs = [folder / "vdn", folder / "iql", tmp_path / "vdn", tmp_path / "iql"]
    comparison = compare(runs, Settings(episodes=2))
    assert [row.task for row in comparison.rows] == ["climbing", "climbing", "penalty", "penalty"]
    by_task = [row.better.value for row in comparison.rows if row.method == "iql"]
    assert comparison.over_tasks["iql"].value == pytest.approx(np.mean(by_task))


def test_task_labels_say_in_what_tasks_differ(folder: Path) -> None:
    boxes = read_config(folder / "boxes")
    more = boxes.replace({"env.num_boxes": 3, "env.max_steps": 9})
    game = read_config(folder / "vdn")
    assert task_labels([boxes, more, game]) == [
        "box-jump num_boxes=2",
        "box-jump num_boxes=3",
        "climbing",
    ]
    assert task_labels([boxes, boxes.replace({"env.max_steps": 9})]) == ["box-jump"] * 2


def test_learning_curves_are_means_over_seeds_with_their_interval(folder: Path) -> None:
    curve = learning_curve([folder / "vdn"])
    singles = [learning_curve([folder / "vdn" / f"seed-{seed}"]) for seed in range(3)]
    assert (curve.seeds, len(curve.steps)) == (3, 2)
    assert np.allclose(curve.mean, np.mean([one.mean for one in singles], axis=0))
    assert np.all(curve.low <= curve.mean)
    assert np.all(curve.mean <= curve.high)
    assert shading([curve]) == OVER_SEEDS
    assert shading([singles[0]]) == OVER_EPISODES


def test_a_run_without_evaluations_has_no_curve(folder: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(folder / "vdn" / "seed-0", tmp_path / "run"))
    (run / "metrics.jsonl").write_text("")
    with pytest.raises(RunError, match="no evaluation yet"):
        learning_curve([run])
