"""Runs on disk become numbers: always the same ones, and never those of another checkpoint."""

import dataclasses
import itertools
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from small_runs import small_run

from pairvdn.config.errors import ConfigError
from pairvdn.envs import make
from pairvdn.evaluation import play_greedy, pooled, summary
from pairvdn.runs import load
from pairvdn.runs.analysis.compare import comparable, compare, grouped, task_labels
from pairvdn.runs.analysis.curves import (
    OVER_EPISODES,
    OVER_SEEDS,
    final_returns,
    learning_curve,
    shading,
)
from pairvdn.runs.analysis.evaluate import Evaluated, Settings, evaluate, moments
from pairvdn.runs.errors import RunError
from pairvdn.runs.export import export
from pairvdn.runs.files import signed
from pairvdn.runs.folder import read_config
from pairvdn.runs.metrics import read_metrics, to_line


@pytest.fixture(scope="module")
def vdn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("vdn", tmp_path_factory)


@pytest.fixture(scope="module")
def iql(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("iql", tmp_path_factory)


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("boxes", tmp_path_factory)


def test_the_same_numbers_twice_and_from_a_copy(boxes: Path, tmp_path: Path) -> None:
    settings = Settings(episodes=3, max_steps=12)
    first = evaluate(boxes, settings)
    assert evaluate(boxes, settings) == first
    copy = Path(shutil.copytree(boxes, tmp_path / "copy"))
    assert dataclasses.replace(evaluate(copy, settings), run=first.run) == first
    shutil.rmtree(copy / "evaluations")
    assert dataclasses.replace(evaluate(copy, settings), run=first.run) == first


def test_the_numbers_are_those_of_the_loaded_value(boxes: Path) -> None:
    loaded = load(boxes)
    env = make("box-jump", **{**loaded.config.env.arguments, "max_steps": 12})
    played = play_greedy(
        env, loaded.value, episodes=3, seed=5, action_repeat=loaded.action_repeat, moments=(8, 12)
    )
    evaluated = evaluate(boxes, Settings(episodes=3, max_steps=12, seed=5))
    assert evaluated.greedy.returns.values == played.returns.tolist()
    heights = evaluated.greedy.measures["best_height"]
    assert list(heights) == [8, 12]
    assert heights[12].values == played.measures["best_height"][12].tolist()
    assert evaluated.max_steps == 12
    assert len(evaluated.random.returns.values) == 30


def test_a_result_is_kept_and_not_taken_for_that_of_other_parameters(
    vdn: Path, tmp_path: Path
) -> None:
    # Other tests may have evaluated the shared run already.
    fresh = shutil.ignore_patterns("evaluations")
    run = Path(shutil.copytree(vdn / "seed-0", tmp_path / "run", ignore=fresh))
    settings = Settings(episodes=2)
    first = evaluate(run, settings)
    (file,) = (run / "evaluations").glob("last-*-2-*.json")
    plain = json.loads(file.read_text())
    del plain["crc32"]
    assert Evaluated.from_dict(plain) == first
    assert plain == first.to_dict()
    stale = {**plain, "extra": {**plain["extra"], "fingerprint": "other"}, "seeds": 9}
    for unusable in (
        signed(json.dumps(stale)),
        json.dumps(plain),  # without a checksum
        "{",
        "[]",
        signed('{"extra": 1}'),
        signed(json.dumps({**plain, "return": 1})),
        signed(json.dumps({**plain, "return": [[[]]]})),
    ):
        file.write_text(unusable)
        assert evaluate(run, settings) == first
    # A changed digit is noticed by the checksum, and the episodes are played again.
    text = file.read_text()
    file.write_text(text.replace(f'"mean": {first.greedy.returns.mean}', '"mean": 12345.0', 1))
    assert file.read_text() != text
    assert evaluate(run, settings) == first


def test_several_seeds_count_one_number_each(vdn: Path) -> None:
    together = evaluate(vdn, Settings(episodes=4))
    single = [evaluate(vdn / f"seed-{seed}", Settings(episodes=4)) for seed in range(3)]
    assert together.interval_over == "seeds"
    assert {one.interval_over for one in single} == {"episodes"}
    assert together.greedy.returns.values == [one.greedy.returns.mean for one in single]
    assert together.seeds == 3
    assert together.random == single[0].random
    assert Evaluated.from_dict(json.loads(json.dumps(together.to_dict()))) == together


def test_last_and_best_are_told_apart(vdn: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(vdn / "seed-1", tmp_path / "run"))
    assert evaluate(run, Settings(checkpoint="last")).epochs == (4,)
    best = evaluate(run, Settings(checkpoint="best"))
    assert best.checkpoint == "best"
    assert best.epochs == (load(run, "best").epoch,)
    shutil.rmtree(run / "checkpoints" / "best")
    with pytest.raises(RunError, match="no best checkpoint"):
        evaluate(run, Settings(checkpoint="best", episodes=3))


def test_a_run_that_diverged_is_counted(vdn: Path, tmp_path: Path) -> None:
    runs = Path(shutil.copytree(vdn, tmp_path / "runs"))
    lines = read_metrics(runs / "seed-1")
    lines[-1]["diverged"] = True
    (runs / "seed-1" / "metrics.jsonl").write_text("".join(map(to_line, lines)))
    evaluated = evaluate(runs, Settings(episodes=5))
    assert (evaluated.diverged, evaluated.seeds) == (1, 3)


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


def test_moments_are_the_usual_end_and_the_end() -> None:
    assert moments(400, 1000) == (400, 1000)
    assert moments(400, 400) == (400,)
    assert moments(400, 100) == (100,)
    assert moments(400, 1000, (200, 5000)) == (200, 400, 1000)  # and those that are asked for


def test_compare_puts_methods_of_a_task_side_by_side(vdn: Path, iql: Path) -> None:
    runs = [vdn, iql / "seed-0", iql / "seed-1"]
    comparison = compare(runs, Settings(episodes=2))
    first, second = comparison.rows
    assert (first.method, first.seeds, second.method, second.seeds) == ("vdn", 3, "iql", 2)
    assert first.better.value == 0.5  # against itself
    values = evaluate(vdn, Settings(episodes=2)).greedy.returns.values
    assert first.mean.value == pytest.approx(np.mean(values))
    assert comparison.over_tasks == {}


def _evaluated(known: Evaluated, *seeds: list[float]) -> Evaluated:
    """Other returns: a number per seed, or per episode of the only one."""
    returns = pooled([summary(np.array(one)) for one in seeds])
    greedy = dataclasses.replace(known.greedy, returns=returns)
    return dataclasses.replace(known, greedy=greedy, seeds=len(seeds))


def test_seeds_are_compared_with_seeds(vdn: Path) -> None:
    known = evaluate(vdn, Settings(episodes=2))
    # Half of the only seed's episodes beat every other seed; its mean beats none.
    alone = [_evaluated(known, [0.0, 19.0] * 10)]
    others = [_evaluated(known, [10.0], [10.1], [9.9])]
    mine, first = comparable(others, alone)
    assert (mine.tolist(), first.tolist()) == ([10.0, 10.1, 9.9], [9.5])
    assert comparable(alone, alone)[0].size == 20


def test_an_exported_run_has_no_best_checkpoint(vdn: Path, iql: Path, tmp_path: Path) -> None:
    export(vdn / "seed-0", tmp_path / "team")
    team, run = compare([tmp_path / "team", iql / "seed-0"], Settings(episodes=2)).rows
    assert team.best_checkpoint is None
    assert run.best_checkpoint is not None


def _moved(runs: Path, copy: Path, game: str) -> Path:
    shutil.copytree(runs, copy)
    shutil.rmtree(copy / "evaluations", ignore_errors=True)
    for file in [copy / "config.toml", *copy.glob("seed-*/config.toml")]:
        file.write_text(file.read_text().replace('"climbing"', f'"{game}"'))
    for results in copy.glob("seed-*/evaluations"):
        shutil.rmtree(results)
    return copy


def test_compare_over_tasks_needs_several_that_both_have(
    vdn: Path, iql: Path, tmp_path: Path
) -> None:
    # The games have the same shapes, so that what was learned in one can be played in the other.
    others = [_moved(run, tmp_path / run.name, "penalty") for run in (vdn, iql)]
    runs = [vdn, iql, *others]
    with pytest.warns(UserWarning, match="env.name was climbing and is penalty"):
        comparison = compare(runs, Settings(episodes=2))
    assert [row.task for row in comparison.rows] == ["climbing", "climbing", "penalty", "penalty"]
    by_task = [row.better.value for row in comparison.rows if row.method == "iql"]
    assert comparison.over_tasks["iql"].value == pytest.approx(np.mean(by_task))


def test_task_labels_say_in_what_tasks_differ(vdn: Path, boxes: Path) -> None:
    boxes = read_config(boxes)
    more = boxes.replace({"env.num_boxes": 3, "env.max_steps": 9})
    game = read_config(vdn)
    assert task_labels([boxes, more, game]) == [
        "box-jump max_steps=8 num_boxes=2",
        "box-jump max_steps=9 num_boxes=3",
        "climbing",
    ]
    longer = [boxes, boxes.replace({"env.max_steps": 9})]
    assert task_labels(longer) == ["box-jump max_steps=8", "box-jump max_steps=9"]
    assert task_labels(longer, ignoring=("max_steps",)) == ["box-jump"] * 2


def test_runs_that_were_trained_differently_are_no_seeds_of_one_row(
    vdn: Path, iql: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copytree(vdn / "seed-0", tmp_path / "longer"))
    config = other / "config.toml"
    config.write_text(re.sub(r"^epochs = .*", "epochs = 99", config.read_text()))
    seeds = [vdn / "seed-0", vdn / "seed-1"]
    assert grouped([*seeds, other, iql]) == {
        ("climbing", "vdn (epochs=4)"): seeds,
        ("climbing", "vdn (epochs=99)"): [other],
        ("climbing", "iql"): [iql],
    }
    with pytest.raises(ConfigError, match="seed-0 is named twice"):
        grouped([*seeds, vdn / "seed-0"])
    with pytest.raises(ConfigError, match="seed-0 is named twice"):
        grouped([vdn, vdn / "seed-0"])


def test_learning_curves_are_means_over_seeds_with_their_interval(vdn: Path) -> None:
    curve = learning_curve([vdn])
    singles = [learning_curve([vdn / f"seed-{seed}"]) for seed in range(3)]
    assert (curve.seeds, len(curve.steps)) == (3, 2)
    assert np.allclose(curve.mean, np.mean([one.mean for one in singles], axis=0))
    assert np.all(curve.low <= curve.mean)
    assert np.all(curve.mean <= curve.high)
    assert shading([curve]) == OVER_SEEDS
    assert shading([singles[0]]) == OVER_EPISODES


def test_a_run_without_evaluations_has_no_curve(vdn: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(vdn / "seed-0", tmp_path / "run"))
    (run / "metrics.jsonl").write_text("")
    with pytest.raises(RunError, match="no evaluation yet"):
        learning_curve([run])


def test_a_run_that_stopped_early_shortens_curves_and_not_ends(vdn: Path, tmp_path: Path) -> None:
    early = Path(shutil.copytree(vdn / "seed-0", tmp_path / "run"))
    lines = read_metrics(early)
    evaluated = [number for number, line in enumerate(lines) if "evaluation" in line]
    (early / "metrics.jsonl").write_text("".join(map(to_line, lines[: evaluated[0] + 1])))
    runs = [vdn / "seed-1", early]
    assert len(learning_curve(runs).steps) == 1
    ends = [final_returns([run]).values.mean() for run in runs]
    assert final_returns(runs).values == pytest.approx(ends)
    del lines[evaluated[0]]["evaluation"]
    (early / "metrics.jsonl").write_text("".join(map(to_line, lines)))
    with pytest.raises(RunError, match="after different epochs"):
        learning_curve(runs)


def test_seeds_that_differ_by_some_steps_have_a_curve(vdn: Path, tmp_path: Path) -> None:
    fewer = Path(shutil.copytree(vdn / "seed-0", tmp_path / "run"))
    shorter = [{**line, "env_steps": line["env_steps"] - 2} for line in read_metrics(fewer)]
    (fewer / "metrics.jsonl").write_text("".join(map(to_line, shorter)))
    usual = learning_curve([vdn / "seed-1"]).steps
    assert learning_curve([vdn / "seed-1", fewer]).steps == pytest.approx(usual - 1)


def test_curves_have_other_axes_and_metrics_and_are_smoothed(vdn: Path) -> None:
    lines = read_metrics(vdn / "seed-0")
    curve = learning_curve([vdn / "seed-0"], x="updates", metric="loss", smooth=2)
    losses = [line["loss"] for line in lines]
    assert curve.steps.tolist() == [line["updates"] for line in lines]
    means = [losses[0], *(sum(pair) / 2 for pair in itertools.pairwise(losses))]
    assert curve.mean == pytest.approx(means)
    assert np.array_equal(curve.low, curve.high)  # one seed has no interval of its loss
    assert shading([curve], "loss") == ""
    seconds = learning_curve([vdn], x="seconds").steps
    assert (np.diff(seconds) > 0).all()
