"""The keys of a study's file, and the errors about wrong ones."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from small_studies import small_keys, small_study

from pairvdn.config.errors import ConfigError
from pairvdn.studies import read_study, shipped_names, study_from
from pairvdn.studies.search import Draw
from pairvdn.studies.study import Bars

ROOT = Path(__file__).parents[2]


def test_every_combination_is_a_row_with_its_config() -> None:
    study = small_study(
        tasks=["climbing", "wall"],
        methods=["vdn", "pairvdn"],
        seeds=[3, 5],
        vary={
            "optimiser": {"learning_rate": [1e-3, 1e-2]},
            "method.hidden_sizes": [[4], [8, 8]],
        },
    )
    cells = [cell for row in study.rows.values() for cell in row.cells()]
    wanted = [
        f"{env}/{method}/optimiser.learning_rate={rate},method.hidden_sizes={sizes}/seed-{seed}"
        for env, method, rate, sizes, seed in itertools.product(
            ["climbing", "wall"], ["vdn", "pairvdn"], [0.001, 0.01], ["4", "8-8"], [3, 5]
        )
    ]
    assert [cell.name for cell in cells] == wanted
    last = cells[-1].config
    assert (last.env.name, last.method.name, last.seed) == ("wall", "pairvdn", 5)
    assert last.optimiser.arguments["learning_rate"] == 1e-2
    assert last.method.arguments["hidden_sizes"] == (8, 8)
    assert last.learner.arguments["num_envs"] == 4


def test_seeds_side_by_side_are_one_cell() -> None:
    (row,) = small_study(seeds=[4, 5], side_by_side=True).rows.values()
    (cell,) = row.cells()
    assert cell.name == "climbing/vdn"
    assert cell.runs() == ["climbing/vdn/seed-4", "climbing/vdn/seed-5"]
    assert cell.seeds() == [4, 5]


def test_rows_have_presets_fields_and_seeds_of_their_own() -> None:
    study = study_from(
        "own",
        {
            "seeds": 2,
            "side_by_side": True,
            "fields": {"epochs": 3},
            "rows": {
                "easy/vdn": {"preset": "climbing/vdn"},
                "easy/long": {"preset": "climbing/vdn", "epochs": 9, "seeds": 4},
                "other": {"preset": "climbing/vdn", "method": {"name": "iql", "hidden_sizes": [4]}},
            },
        },
    )
    rows = study.rows
    assert [row.config().epochs for row in rows.values()] == [3, 9, 3]
    assert [len(row.seeds) for row in rows.values()] == [2, 4, 2]
    assert rows["other"].config().method.name == "iql"
    assert (rows["easy/long"].group, rows["easy/long"].label) == ("easy", "long")
    assert rows["other"].command() == (
        "pairvdn train climbing/vdn --epochs 3 --method.name iql --method.hidden-sizes 4 --seeds 2"
    )
    assert [row.name for row in study.only(["easy"])] == ["easy/vdn", "easy/long"]
    assert [row.name for row in study.only(["other", "easy/vdn"])] == ["easy/vdn", "other"]
    with pytest.raises(ConfigError, match="did you mean 'other'"):
        study.only(["othr"])


def test_a_row_by_name_replaces_the_one_of_its_task_and_method() -> None:
    study = small_study(
        tasks={"hard": {"env": {"name": "climbing"}, "epochs": 7}},
        methods=["vdn", "iql"],
        rows={"hard/iql": {"preset": "climbing/pairvdn"}},
    )
    assert [row.preset for row in study.rows.values()] == ["climbing/vdn", "climbing/pairvdn"]
    assert study.rows["hard/vdn"].config().epochs == 7


def test_a_method_can_be_left_out_of_a_task() -> None:
    keys = small_keys(tasks=["climbing", "wall"], methods=["vdn", "iql"], without=["wall/vdn"])
    study = study_from("some", keys)
    assert study.name == "some"
    assert list(study.rows) == ["climbing/vdn", "climbing/iql", "wall/iql"]


def test_rows_can_have_seeds_of_their_own() -> None:
    keys = small_keys(tasks=["climbing"], methods=["vdn", "iql"], seeds=3)
    study = study_from("some", {**keys, "seeds_of": {"climbing/iql": 5}})
    assert [len(row.seeds) for row in study.rows.values()] == [3, 5]


def test_presets_of_the_paper_and_environments_of_others() -> None:
    paper = study_from("paper", {"tasks": ["simple-spread"], "methods": ["vdn-paper"]})
    (row,) = paper.rows.values()
    assert row.config().learner.name == "paper"
    others = study_from(
        "others", {"tasks": ["pettingzoo:mpe2.simple_spread_v3"], "methods": ["vdn", "iql"]}
    )
    assert list(others.rows) == [
        "pettingzoo-mpe2.simple_spread_v3/vdn",
        "pettingzoo-mpe2.simple_spread_v3/iql",
    ]
    assert [row.config().method.name for row in others.rows.values()] == ["vdn", "iql"]


def test_changes_of_the_command_line_are_noted() -> None:
    study = small_study(seeds=3)
    assert study.with_changes() is study
    changed = study.with_changes({"epochs": 1}, 2, {"episodes": 4})
    (row,) = changed.rows.values()
    assert (row.config().epochs, row.seeds, changed.evaluation.episodes) == (1, (0, 1), 4)
    assert changed.changed == {"epochs": 1, "seeds": 2, "[evaluation] episodes": 4}
    with pytest.raises(ConfigError, match="did you mean 'epochs'"):
        study.with_changes({"epoch": 1})


def tuned(space: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"tune": {"space": space, **keys}}


def aggregated(**keys: Any) -> dict[str, Any]:
    references = {
        "nobody": {"source": "known", "values": {}},
        "bound": {"source": "known", "values": {"climbing": 11}},
    }
    return {
        "references": references,
        "aggregate": {"zero": "nobody", "one": "bound", "versus": "vdn"} | keys,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"taks": ["wall"]}, "did you mean 'tasks'"),
        ({"tasks": []}, "tasks and methods belong together"),
        ({"tasks": {"hard": {"env": {"name": "climbng"}}}}, "did you mean 'climbing/vdn'"),
        ({"methods": ["pairvnd"]}, "did you mean 'climbing/pairvdn'"),
        ({"methods": []}, "tasks and methods belong together"),
        ({"methods": ["vdn", "vdn"]}, "name each method once"),
        ({"without": ["climbing/vnd"]}, "without has no row 'climbing/vnd'; did you mean"),
        ({"tasks": [], "methods": []}, "needs rows, or tasks and methods"),
        ({"methods": "vdn"}, "methods must be a list"),
        ({"seeds": 0}, "at least 1"),
        ({"seeds_of": {"climbing/vnd": 5}}, "seeds_of has no row 'climbing/vnd'; did you mean"),
        ({"seeds_of": {"climbing/vdn": 0}}, "seeds_of.climbing/vdn must be a list of seeds or"),
        ({"seeds": [-1]}, "seed must be at least 0"),
        ({"seeds": 2147483648}, "seeds must be at most 10000"),
        (
            {"vary": {"epochs": list(range(1, 200)), "learner.n_step": list(range(1, 200))}},
            "at most 10000 rows, not 39601",
        ),
        ({"seeds": [1, 1]}, "climbing/vdn: a seed is named twice"),
        ({"seeds": [1, 3], "side_by_side": True}, "must be consecutive"),
        ({"fields": {"epoch": 3}}, "did you mean 'epochs'"),
        ({"fields": {"learner": {"num_env": 3}}}, "did you mean 'num_envs'"),
        ({"fields": {"lerner": {"num_envs": 3}}}, "did you mean 'learner'"),
        ({"fields": {"seed": 3}}, "fields.seed is not allowed here; use seeds"),
        ({"fields": 3}, "fields must be a table"),
        ({"vary": {"optimiser": {"lerning_rate": [1.0]}}}, "did you mean 'learning_rate'"),
        ({"vary": {"epochs": 3}}, "vary.epochs must be a list of values"),
        ({"vary": {"epochs": ["many"]}}, "epochs must be a whole number"),
        ({"vary": {"epochs": [3, 3]}}, "Two rows have the name climbing/vdn/epochs=3"),
        ({"rows": {"a": {}}}, "rows.a needs a preset"),
        ({"rows": {"../a": {"preset": "climbing/vdn"}}}, "must be letters, digits"),
        ({"rows": {"a/.": {"preset": "climbing/vdn"}}}, "must be letters, digits"),
        ({"rows": {"climbing": {"preset": "wall/vdn"}}}, "is a row and a group of rows"),
        ({"rows": {"climbing/a": {"preset": "wall/vdn"}}}, "rows of a group share an environment"),
        ({"rows": {"a": {"preset": "climbing/vdm"}}}, "did you mean 'climbing/vdn'"),
        ({"column": "return", "vary": {"epochs": [1, 2]}}, "needs tasks, and no vary"),
        ({"columns": {"return": 3}}, "columns.return must be a text"),
        ({"columns": {}}, "needs at least one column"),
        ({"evaluation": {"episode": 3}}, "did you mean 'episodes'"),
        ({"evaluation": {"episodes": 0}}, "episodes must be from 1"),
        ({"versus": {"row": "vdn"}}, "versus needs path"),
        ({"references": {"x": {"values": {}}}}, "references.x needs source"),
        ({"figures": {"x": {"kind": "pie"}}}, "must be one of aggregate, bars, curves"),
        (
            {"figures": {"x": {"kind": "bars", "path": "return", "labl": ""}}},
            "did you mean 'label'",
        ),
        (
            {"figures": {"x": {"kind": "episodes", "rows": ["climbing/vnd"], "steps": [1]}}},
            "did you mean 'climbing/vdn'",
        ),
        ({"resources": {"cpu": 1}}, "did you mean 'cpus'"),
        ({"resources": {"cpus": -1}}, "cpus must be at least 0"),
        ({"tune": {"samples": 3}}, "tune.space must be a table"),
        (tuned({"learner.n_step": {"integers": [1]}}), "two whole numbers, from and to"),
        (tuned({"learner.n_step": {"integers": [8, 2]}}), "two whole numbers, from and to"),
        (tuned({"learner.discount": {"log": [0, 1]}}), "two numbers above 0"),
        (tuned({"learner.discount": {"uniform": ["a", "b"]}}), "must be two numbers"),
        (tuned({"learner": {"n_step": {"integer": [1, 2]}}}), "did you mean 'integers'"),
        (tuned({"learner": {"n_step": 3}}), "must be a list of values or one range; for example"),
        (tuned({"learner": {"n_step": []}}), "must be a list of values or one range"),
        (tuned({"learner": {"n_stp": [1, 2]}}), "did you mean 'n_step'"),
        (tuned({"epochs": [1, 2]}), "tune.space.epochs cannot be tuned"),
        (tuned({"env.max_steps": [1, 2]}), "tune.space.env.max_steps cannot be tuned"),
        (tuned({"learner.discount": {"log": [0.5, 0.9]}}), "samples is needed"),
        (tuned({"learner.n_step": [1]}, sample=3), "did you mean 'samples'"),
        (tuned({"learner.n_step": [1]}, samples=0), "samples must be from 1 to 10000"),
        (tuned({"learner.n_step": [1]}, budget=0), "budget must be greater than 0"),
        (tuned({"learner.n_step": [1]}, budget=2), "budget must be from 0 to 1"),
        (tuned({"learner.n_step": [1]}, seeds=[]), "a list, or a number from 1 to 1000"),
        (tuned({"learner.n_step": [1]}, seeds=2**31), "a list, or a number from 1 to 1000"),
        (tuned({"learner.n_step": list(range(1, 20_000))}), "samples is needed: there are 19,999"),
        (tuned({"learner.n_step": [1]}, seeds=[-1]), "seed must be at least 0"),
        (tuned({"learner.n_step": [1]}, seeds=[5, 7]), "seeds must be consecutive"),
        (tuned({"learner.n_step": [1]}, early_stopping={"grac": 1}), "did you mean 'grace'"),
        (tuned({"learner.n_step": [1]}, early_stopping={"reduction": 1}), "reduction must be at"),
        (tuned({"learner.n_step": [1]}) | {"seeds": [10_000]}, "seed 10000 is in tune.seeds"),
        (
            tuned({"learner.n_step": [1]}) | {"rows": {"tune/a": {"preset": "climbing/vdn"}}},
            "in the folder of trials",
        ),
        (aggregated(zero="nobdy"), "aggregate.zero has no 'nobdy'; did you mean 'nobody'"),
        (aggregated(versus="vnd"), "did you mean 'vdn'"),
        (aggregated(tasks=["clmbing"]), "did you mean 'climbing'"),
        (aggregated(zero="bound"), "zero and one must differ, but both are 11"),
        (aggregated(one="nobody"), "needs a number for the task climbing"),
        ({"figures": {"x": {"kind": "aggregate"}}}, r"figures.x needs a table \[aggregate\]"),
    ],
)
def test_what_is_wrong_is_named_with_the_nearest_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        study_from("wrong", small_keys() | changes)


def test_a_file_that_is_no_study(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_study(str(file))
    file.write_text("methods = [")
    with pytest.raises(ConfigError, match=r"own.toml is not TOML"):
        read_study(str(file))
    file.write_text('methods = ["vdn"]')
    with pytest.raises(ConfigError, match=r"own.toml: tasks and methods belong together"):
        read_study(str(file))
    with pytest.raises(ConfigError, match="no study 'paper-tabel'; did you mean 'paper-table'"):
        read_study("paper-tabel")


def test_the_examples_are_studies() -> None:
    study = read_study(str(ROOT / "examples/studies/coordination.toml"))
    assert len(study.rows) == 3 * 4
    assert {len(row.seeds) for row in study.rows.values()} == {5}
    tuned_study = read_study(str(ROOT / "examples/studies/tuned.toml"))
    assert tuned_study.tune is not None
    assert tuned_study.tune.space["learner.loss"] == Draw("list", ("huber", "squared"))
    assert len(tuned_study.tune.trials()) == 8


def test_the_papers_numbers_are_references() -> None:
    study = read_study("paper-table")
    known = study.references["the paper"]
    assert known.values["no-rotation/pairvdn"]["score, t = 1000"] == [1.294, 0.032]
    random = {"rotation/random", "no-rotation/random"}
    assert set(known.values) <= {*study.rows, *random}
    assert all(set(numbers) <= set(study.columns) for numbers in known.values.values())
    assert isinstance(study.figures["bars"], Bars)
    assert "paper-table" in shipped_names()
