"""Raw results -> tables of studies, of several studies, and in pages."""

import csv
from pathlib import Path
from typing import Any

import pytest

from pairvdn.config.errors import ConfigError
from pairvdn.studies import (
    claims_table,
    fill,
    read_summary,
    study_from,
    study_table,
    to_csv,
    to_markdown,
)
from pairvdn.studies.study import Study

NUMBER = {"mean": 5.0, "sd": 1.0, "low": 4.0, "high": 6.0, "values": [4.0, 6.0]}
ROW: dict[str, Any] = {
    "return": NUMBER,
    "random": {"return": {**NUMBER, "mean": -3.0}},
    "seeds": 2,
    "diverged": 0,
    "cost": {"seconds": 60, "env_steps": 6000, "updates": 120},
}


def by_task() -> Study:
    return study_from(
        "many",
        {
            "tasks": {"one": {"env": {"name": "climbing"}}, "two": {"env": {"name": "wall"}}},
            "methods": ["vdn", "iql"],
            "column": "return",
            "references": {"rule": {"source": "known", "values": {"two": 7}}},
        },
    )


def by_row(**changes: Any) -> Study:
    rows = {name: {"preset": "climbing/vdn"} for name in ("left/a", "left/b", "right/b")}
    return study_from("many", {"rows": rows, **changes})


def test_methods_and_tasks() -> None:
    lines = to_markdown(study_table(by_task(), {"one/vdn": ROW, "two/iql": ROW})).splitlines()
    assert lines == [
        "|  | `one` | `two` |",
        "| --- | --- | --- |",
        "| random | -3.00 [4.00, 6.00] | -3.00 [4.00, 6.00] |",
        "| rule | – | 7 |",
        "| `vdn` | 5.00 [4.00, 6.00] | – |",
        "| `iql` | – | 5.00 [4.00, 6.00] |",
    ]


def test_methods_and_tasks_without_results_are_left_out() -> None:
    lines = study_table(by_task(), {"two/iql": ROW})
    assert [line[0] for line in lines] == ["", "random", "rule", "`iql`"]
    assert lines[0] == ["", "`two`"]


def test_rows_with_chance_references_and_a_comparison() -> None:
    study = by_row(
        columns={"score": "return", "seeds": "return.range", "steps": "cost.env_steps"},
        versus={"row": "b", "path": "return"},
        references={
            "paper": {
                "source": "table 1",
                "values": {"left/a": {"score": [1.5, 0.25]}, "left/random": {"score": 1}},
            }
        },
    )
    better = {**ROW, "return": {**NUMBER, "values": [8.0, 9.0]}}
    lines = study_table(study, {"left/a": better, "left/b": ROW, "right/b": ROW})
    assert lines == [
        ["", "seeds", "score", "seeds", "steps", "more than `b`", "P(more than `b`)"],
        ["left/random", "", "-3.00 [4.00, 6.00]", "4.000 to 6.000", "–", "–", "–"],
        ["paper: left/random", "", "1", "–", "–", "–", "–"],
        [
            *("`left/a`", "2", "5.00 [4.00, 6.00]", "8.000 to 9.000", "6,000"),
            *("3.50 [2.00, 5.00]", "1.00 [1.00, 1.00]"),
        ],
        ["paper: left/a", "", "1.500 ± 0.250", "–", "–", "–", "–"],
        ["`left/b`", "2", "5.00 [4.00, 6.00]", "4.000 to 6.000", "6,000", "–", "–"],
        ["right/random", "", "-3.00 [4.00, 6.00]", "4.000 to 6.000", "–", "–", "–"],
        ["`right/b`", "2", "5.00 [4.00, 6.00]", "4.000 to 6.000", "6,000", "–", "–"],
    ]


def test_a_study_without_columns_shows_the_return() -> None:
    lines = study_table(by_row(), {"right/b": ROW})
    assert lines[0] == ["", "seeds", "return"]
    assert lines[-1] == ["`right/b`", "2", "5.00 [4.00, 6.00]"]


def test_csv_has_every_number_in_full() -> None:
    study = by_row(columns={"score": "return", "seeds": "return.range", "steps": "cost.env_steps"})
    rows = list(csv.DictReader(to_csv(study, {"left/a": ROW}).splitlines()))
    assert [(row["row"], row["column"], row["mean"], row["low"]) for row in rows] == [
        ("left/a", "score", "5.0", "4.0"),
        ("left/a", "seeds", "", "4.0"),
        ("left/a", "steps", "6000", ""),
    ]


def test_a_summary_of_several_studies(tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_text(
        '[[lines]]\ntask = "T"\nstudy = "s"\npath = "return"\nvdn = "v"\npairvdn = "p"\n'
        '[[lines]]\ntask = "U"\nstudy = "s"\npath = "return"\nother = "p"\nmethod = "dcg"\n'
    )
    summary = read_summary(str(file))
    assert summary is not None
    assert summary.studies == ["s"]
    assert summary.table(lambda _: {"v": ROW, "p": ROW})[1:] == [
        ["T", "-3.00 [4.00, 6.00]", *["5.00 [4.00, 6.00]"] * 2, "–", "2"],
        ["U", "-3.00 [4.00, 6.00]", "–", "–", "`dcg` 5.00 [4.00, 6.00]", "2"],
    ]
    file.write_text('about = "nothing"\ncosts = []\n')
    with pytest.raises(ConfigError, match="a summary has lines, costs or an aggregate"):
        read_summary(str(file))
    assert read_summary("paper-table") is None


def test_costs_are_summed_over_the_methods_of_a_task() -> None:
    summary = read_summary("costs")
    assert summary is not None
    found = {
        "coordination-untuned": {"aloha/vdn": ROW, "aloha/iql": ROW},
        "cooking": {"coop/vdn": ROW},
    }
    lines = summary.table(lambda name: found.get(name, {}))
    assert lines[1:] == [
        ["cooking: `coop/vdn`", "2", "6,000", "120", "1.0", "100", "2"],
        ["coordination-untuned: `aloha`", "4", "12,000", "240", "2.0", "100", "2"],
    ]


def test_the_cost_of_a_row_includes_its_trials() -> None:
    summary = read_summary("costs")
    assert summary is not None
    tuned = {**ROW, "tuned": {"cost": {"seconds": 30, "env_steps": 3000, "updates": 60}}}
    lines = summary.table(lambda name: {"coop/vdn": tuned} if name == "cooking" else {})
    assert lines[1] == ["cooking: `coop/vdn`", "2", "9,000", "180", "1.5", "100", "2"]


def test_a_page_is_filled_and_an_old_table_replaced() -> None:
    page = "before\n<!-- table:dcg-factors -->\nold\n<!-- /table -->\nafter\n"
    filled = fill(page, lambda _: {"ring/exact": ROW})
    assert filled.startswith("before\n<!-- table:dcg-factors -->\n\n|  | seeds | return |\n")
    assert filled.endswith("| `ring/exact` | 2 | 5.00 [4.00, 6.00] |\n\n<!-- /table -->\nafter\n")
    assert fill(filled, lambda _: {"ring/exact": ROW}) == filled


CLAIM = {"row": "left/a", "than": "left/b", "path": "return"}


def with_values(*values: float, late: tuple[float, ...] = ()) -> dict[str, Any]:
    moments = {"1": {"values": [0.0] * len(values)}, "9": {"values": list(late)}}
    return {**ROW, "return": {**NUMBER, "values": list(values)}, "measures": {"height": moments}}


@pytest.mark.parametrize(
    ("mine", "others", "difference", "verdict"),
    [
        ([8, 9], [4, 6], "3.50 [2.00, 5.00]", "holds"),
        ([4, 6], [8, 9], "-3.50 [-5.00, -2.00]", "the opposite holds"),
        ([4, 6], [4, 6], "0.00 [-2.00, 2.00]", "not shown"),
        ([9], [4, 6], "–", "not run"),
    ],
)
def test_a_claim_holds_if_its_interval_excludes_zero(
    mine: list[float], others: list[float], difference: str, verdict: str
) -> None:
    study = by_row(claims={"a beats b": CLAIM})
    rows = {"left/a": with_values(*mine), "left/b": with_values(*others)}
    line = ["a beats b", "`left/a` - `left/b`", "return", difference, verdict]
    assert claims_table(study, rows)[1:] == [line]


def test_claims_about_gains_and_steadiness() -> None:
    gain = {**CLAIM, "path": "measures.height.9", "minus": "measures.height.1"}
    study = by_row(claims={"gains": gain, "unsteady": {**CLAIM, "statistic": "sd"}})
    rows = {
        "left/a": with_values(0.0, 8.0, late=(3.0, 3.0)),
        "left/b": with_values(4.0, 4.0, late=(1.0, 1.0)),
    }
    gains, unsteady = claims_table(study, rows)[1:]
    assert gains[2:] == ["height.9 - height.1", "2.00 [2.00, 2.00]", "holds"]
    assert unsteady[2:4] == ["sd of return", "5.66 [0.00, 5.66]"]
    assert unsteady[4] == "not shown"


def test_a_claim_about_rows_that_are_not_run_yet() -> None:
    study = by_row(claims={"a beats b": CLAIM})
    assert claims_table(study, {"left/a": ROW})[1][-2:] == ["–", "not run"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"than": "left/c"}, "has no row 'left/c'"),
        ({"statistic": "median"}, "must be one of 'mean', 'sd'"),
        ({"paths": "return"}, "has no key 'paths'"),
    ],
)
def test_a_wrong_claim_is_named(changes: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        by_row(claims={"a beats b": {**CLAIM, **changes}})


def test_a_page_is_filled_with_claims() -> None:
    page = "<!-- claims:paper-table -->\n<!-- /claims -->\n"
    filled = fill(page, lambda _: {})
    assert (
        "| PairVDN builds higher than VDN, t = 1000 | `no-rotation/pairvdn` - `no-rotation/vdn` |"
        in filled
    )
    assert fill(filled, lambda _: {}) == filled
