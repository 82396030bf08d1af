"""What a grid's file may say, and what is said about one that says something else."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from small_grids import small_grid

from pairvdn.config.errors import ConfigError
from pairvdn.studies import grid_from, read_grid
from pairvdn.studies.search import Draw

ROOT = Path(__file__).parents[3]


def test_every_combination_is_a_cell_with_its_config() -> None:
    grid = grid_from(
        small_grid(
            environments=["climbing", "wall"],
            methods=["vdn", "pairvdn"],
            seeds=[3, 5],
            vary={
                "optimiser": {"learning_rate": [1e-3, 1e-2]},
                "method.hidden_sizes": [[4], [8, 8]],
            },
        )
    )
    cells = grid.cells()
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
    (cell,) = grid_from(small_grid(seeds=[4, 5], side_by_side=True)).cells()
    assert cell.name == "climbing/vdn"
    assert cell.runs() == ["climbing/vdn/seed-4", "climbing/vdn/seed-5"]
    assert cell.seeds() == [4, 5]


def test_presets_of_the_paper_and_environments_of_others() -> None:
    paper = grid_from({"environments": ["simple-spread"], "methods": ["vdn-paper"]})
    assert paper.cells()[0].config.learner.name == "paper"
    others = grid_from(
        {"environments": ["pettingzoo:mpe2.simple_spread_v3"], "methods": ["vdn", "iql"]}
    )
    assert [cell.name for cell in others.cells()] == [
        "pettingzoo-mpe2.simple_spread_v3/vdn/seed-0",
        "pettingzoo-mpe2.simple_spread_v3/iql/seed-0",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"enviroments": ["wall"]}, "did you mean 'environments'"),
        ({"methods": ["pairvnd"]}, "did you mean 'climbing/pairvdn'"),
        ({"methods": []}, "methods must name at least one"),
        ({"methods": "vdn"}, "methods must be a list"),
        ({"seeds": 0}, "at least 1"),
        ({"seeds": [-1]}, "seed must be at least 0"),
        ({"seeds": [1, 1]}, "two cells would be called climbing/vdn/seed-1"),
        ({"seeds": [1, 3], "side_by_side": True}, "must follow each other"),
        ({"fields": {"epoch": 3}}, "did you mean 'epochs'"),
        ({"fields": {"learner": {"num_env": 3}}}, "did you mean 'num_envs'"),
        ({"fields": {"lerner": {"num_envs": 3}}}, "did you mean 'learner'"),
        ({"fields": {"seed": 3}}, "name them at the top, seeds"),
        ({"fields": 3}, "fields must be a table"),
        ({"vary": {"optimiser": {"lerning_rate": [1.0]}}}, "did you mean 'learning_rate'"),
        ({"vary": {"epochs": 3}}, "vary.epochs must be a list of values"),
        ({"vary": {"epochs": ["many"]}}, "epochs must be a whole number"),
        ({"resources": {"cpu": 1}}, "did you mean 'cpus'"),
        ({"resources": {"cpus": -1}}, "cpus must be at least 0"),
        ({"tune": {"samples": 3}}, "tune.space must be a table"),
        ({"tune": {"space": {"epochs": {"integers": [1]}}}}, "two numbers, from and to"),
        ({"tune": {"space": {"epochs": {"integers": [8, 2]}}}}, "two whole numbers, from and to"),
        ({"tune": {"space": {"seed": {"log": [0, 1]}}}}, "two numbers above 0"),
        ({"tune": {"space": {"seed": {"uniform": ["a", "b"]}}}}, "must be two numbers"),
        ({"tune": {"space": {"epochs": {"integer": [1, 2]}}}}, "did you mean 'integers'"),
        ({"tune": {"space": {"epoch": {"integers": [1, 2]}}}}, "did you mean 'epochs'"),
        ({"tune": {"sample": 3}}, "did you mean 'samples'"),
        ({"tune": {"samples": 0, "space": {"epochs": {"choice": [1]}}}}, "samples must be at"),
    ],
)
def test_what_is_wrong_is_named_with_the_nearest_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        grid_from(small_grid() | changes)


def test_a_file_that_is_no_grid(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_grid(file)
    file.write_text("methods = [")
    with pytest.raises(ConfigError, match=r"grid.toml is not TOML"):
        read_grid(file)
    file.write_text('methods = ["vdn"]')
    with pytest.raises(ConfigError, match=r"grid.toml: A grid needs environments"):
        read_grid(file)


def test_the_example_is_a_grid() -> None:
    grid = read_grid(ROOT / "examples/grids/coordination.toml")
    assert len(grid.cells()) == 3 * 4 * 5
    assert grid.tune is not None
    assert grid.tune.space["optimiser.learning_rate"] == Draw("log", (3e-4, 1e-2))
    assert grid.tune.space["method.hidden_sizes"] == Draw("choice", ([32, 32], [64, 64]))
