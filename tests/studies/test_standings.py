"""The aggregate over tasks, on results whose scores can be computed by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import FolderError
from pairvdn.studies import aggregate, aggregate_table, read_summary, study_from
from pairvdn.studies.standings import THRESHOLDS
from pairvdn.studies.study import Study

REFERENCES = {
    "nobody acts": {"source": "known", "values": {"climbing": 0}},
    "bound": {"source": "known", "values": {"climbing": 10, "wall": 5}},
}


def study(**changes: Any) -> Study:
    keys = {
        "tasks": ["climbing", "wall"],
        "methods": ["vdn", "iql", "pairvdn", "qmix"],
        "references": REFERENCES,
        "aggregate": {"zero": "nobody acts", "one": "bound", "versus": "vdn"},
    }
    return study_from("many", keys | changes)


def row(*values: float, random: float = -99.0) -> dict[str, Any]:
    return {
        "seeds": len(values),
        "return": {"mean": float(np.mean(values)), "values": list(values)},
        "random": {"return": {"mean": random}},
    }


# On the wall 0 is the random policy, at -5: a return of 0 is a score of 0.5.
ROWS = {
    "climbing/vdn": row(0, 0),
    "climbing/iql": row(2, 4),
    "climbing/pairvdn": row(10, 10),
    "climbing/qmix": row(1, 1),
    "wall/vdn": row(0, 0, random=-5),
    "wall/iql": row(-5, 5, random=-5),
    "wall/pairvdn": row(5, 5, random=-5),
}


def test_scores_are_0_at_the_reference_or_the_random_policy_and_1_at_the_bound() -> None:
    found = aggregate(study(), ROWS)
    scores = {one.method: {t: s.tolist() for t, s in one.scores.items()} for one in found.standings}
    assert scores == {
        "pairvdn": {"climbing": [1.0, 1.0], "wall": [1.0, 1.0]},
        "iql": {"climbing": [0.2, 0.4], "wall": [0.0, 1.0]},
        "vdn": {"climbing": [0.0, 0.0], "wall": [0.5, 0.5]},
    }
    assert {method: list(own) for method, own in found.incomplete.items()} == {"qmix": ["climbing"]}
    assert found.missing("qmix") == ["wall"]


def test_iqm_profile_and_probability_of_improvement() -> None:
    pairvdn, iql, vdn = aggregate(study(), ROWS).standings  # best first
    assert pairvdn.iqm == (1.0, 1.0, 1.0)
    assert iql.iqm.value == pytest.approx(0.3)  # of 0, 0.2, 0.4, 1 the middle two
    assert iql.mean.value == pytest.approx(0.4)
    assert iql.iqm.low is not None
    assert iql.iqm.low < 0.3 < (iql.iqm.high or 0)
    assert vdn.iqm.value == pytest.approx(0.25)
    assert vdn.better is None
    assert pairvdn.better == (1.0, 1.0, 1.0)
    assert iql.better is not None
    assert iql.better.value == pytest.approx((1.0 + 0.5) / 2)  # all, and one of two seeds
    at = {
        round(float(score), 2): share
        for score, share in zip(THRESHOLDS, iql.profile.value, strict=True)
    }
    assert [at[score] for score in (0.0, 0.1, 0.3, 0.5, 1.0)] == [0.75, 0.75, 0.5, 0.25, 0.0]


def test_the_table_is_ordered_by_iqm_and_names_what_is_missing() -> None:
    lines = aggregate_table(study(), ROWS)
    assert lines[0] == ["", "IQM", "mean", "P(more than `vdn`)", "seeds"]
    assert lines[1] == ["`pairvdn`", *["1.00 [1.00, 1.00]"] * 3, "2"]
    assert [line[0] for line in lines[1:]] == ["`pairvdn`", "`iql`", "`vdn`", "`qmix`"]
    assert lines[3][3] == "–"
    assert lines[4][1] == "not on wall"


def test_a_single_seed_counts_with_its_mean_and_other_tasks_can_be_chosen() -> None:
    one_seed = {**row(0, 10), "seeds": 1}  # the values are those of episodes
    rows = ROWS | {"climbing/qmix": one_seed}
    only = {"zero": "nobody acts", "one": "bound", "versus": "qmix", "tasks": ["climbing"]}
    found = aggregate(study(aggregate=only), rows)
    assert {one.method for one in found.standings} == {"vdn", "iql", "pairvdn", "qmix"}
    (qmix,) = (one for one in found.standings if one.method == "qmix")
    assert qmix.scores["climbing"].tolist() == [0.5]
    assert qmix.iqm == (0.5, None, None)


def test_missing_results_are_one_line() -> None:
    rows = {name: one for name, one in ROWS.items() if name != "wall/vdn"}
    with pytest.raises(FolderError, match="many: vdn needs results on wall"):
        aggregate(study(), rows)
    plain = study_from("plain", {"tasks": ["climbing"], "methods": ["vdn"]})
    with pytest.raises(ConfigError, match=r"plain has no table \[aggregate\]"):
        aggregate(plain, ROWS)


def test_a_summary_names_the_study_of_its_aggregate(tmp_path: Path) -> None:
    summary = read_summary("which-method")
    assert summary is not None
    assert summary.studies == ["coordination"]
    file = tmp_path / "both.toml"
    file.write_text('costs = ["dcg-factors"]\naggregate = "coordination"\n')
    with pytest.raises(ConfigError, match="a summary has lines, costs or an aggregate"):
        read_summary(str(file))
