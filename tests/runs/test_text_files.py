"""Text files of run folders, damaged or crafted: one line that names the file."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from attacked_runs import CONFIG, EPOCHS

from pairvdn.cli import main
from pairvdn.runs import read_metrics, resume, train
from pairvdn.runs.errors import FolderError
from pairvdn.runs.files import is_unchanged, read_text, signed, to_json
from pairvdn.runs.folder import RunFolder, seeds_of
from pairvdn.runs.metrics import parse_metrics, to_line


@pytest.fixture
def run(attacked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(attacked, tmp_path / "run"))


METRICS = {
    "a byte that is no text": lambda data: data[:20] + b"\xff" + data[20:],
    "a number": lambda data: b"5\n" + data,
    "an empty object": lambda data: b"{}\n" + data,
    "deep nesting": lambda data: b"[" * 100_000 + b"\n" + data,
    "a flipped digit": lambda data: data.replace(b'"env_steps": ', b'"env_steps": 1', 1),
    "a line twice": lambda data: data.split(b"\n")[0] + b"\n" + data,
    "a large number": lambda data: b'{"epoch": ' + b"9" * 5000 + b"}\n" + data,
    "a line without a checksum": lambda data: (
        data.split(b', "crc32"')[0] + b"}\n" + data.split(b"\n", 1)[1]
    ),
    "a checksum under another name": lambda data: data.replace(b'"crc32"', b'"crc33"', 1),
    "a lost line": lambda data: data.split(b"\n", 1)[1],
    "a mean that is a text": lambda data: (
        b'{"epoch": 0, "env_steps": 1, "updates": 1, "diverged": false, '
        b'"clock": {"seconds": 1}, "evaluation": {"mean": "x", "values": [1]}}\n'
    ),
}


@pytest.mark.parametrize("case", METRICS)
def test_damaged_metrics_are_one_line(
    case: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = run / "metrics.jsonl"
    file.write_bytes(METRICS[case](file.read_bytes()))
    for command in (["plot", str(run), "--out", str(tmp_path / "c")], ["evaluate", str(run)]):
        assert main(command) == 2
        errors = capsys.readouterr().err
        assert str(file) in errors
        assert errors.count("\n") == 1
    with pytest.raises(FolderError, match=r"metrics\.jsonl"):
        resume(run, epochs=EPOCHS + 1)


@pytest.mark.parametrize("name", ["metrics.jsonl", "seeds.json", "config.toml"])
def test_a_named_pipe_does_not_hang(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    assert main(["plot", str(run), "--out", str(run / "curves")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        *("5", "{}", "[]", "[0, 1]", '{"seeds": [0, 1]}', "[" * 9999),
        *(
            signed(f'{{"seeds": {seeds}}}')
            for seeds in ("[]", "[1.5]", "[-1]", "[0, 0]", '["0"]', "[true]", "[4294967296]")
        ),
    ],
)
def test_seeds_of_anything_are_one_line(text: str, run: Path, capsys) -> None:
    (run / "seeds.json").write_text(text)
    assert main(["evaluate", str(run)]) == 2
    errors = capsys.readouterr().err
    assert "seeds.json" in errors
    assert errors.count("\n") == 1


def test_a_flipped_digit_in_the_seeds_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    train(CONFIG.replace({"epochs": 1}), folder, num_seeds=2)
    assert seeds_of(folder) == [0, 1]
    file = folder / "seeds.json"
    file.write_text(file.read_text().replace("[0, 1]", "[0, 7]"))
    with pytest.raises(FolderError, match="was changed after it was written"):
        resume(folder, epochs=2)
    assert not (folder / "seed-7").exists()


def test_numbers_that_json_does_not_have_are_null_and_come_back_as_nan() -> None:
    usual = {"epoch": 1, "env_steps": 1, "updates": 1, "diverged": True, "clock": {"seconds": 1}}
    line = to_line({**usual, "loss": float("inf"), "evaluation": {"mean": np.nan, "values": [1.0]}})
    json.loads(line, parse_constant=pytest.fail)
    (record,) = parse_metrics(line)
    assert np.isnan([record["loss"], record["evaluation"]["mean"]]).all()


def test_a_checksum_is_of_the_whole_text() -> None:
    for indent in (None, 2):
        text = signed(to_json({"a": 1, "b": [0.5]}, indent=indent))
        assert json.loads(text)["b"] == [0.5]
        assert is_unchanged(text)
        assert not is_unchanged(text.replace("0.5", "0.6"))


@pytest.mark.parametrize(
    "changes",
    [
        {"epoch": None},
        {"epoch": 1.0},
        {"env_steps": 10**400},
        {"env_steps": None},
        {"updates": -1},
        {"loss": "x"},
        {"loss": [1]},
        {"loss": 10**400},
        {"diverged": 0},
        {"clock": {"seconds": 10**400}},
        {"evaluation": {"mean": 10**400, "values": [1]}},
        {"evaluation": {"mean": 1, "values": [10**400]}},
        {"evaluation": {"mean": 1, "values": []}},
        {"evaluation": None},
    ],
)
def test_a_line_of_anything_with_a_right_checksum_is_refused(changes: dict) -> None:
    usual = {"epoch": 1, "env_steps": 1, "updates": 1, "diverged": True, "clock": {"seconds": 1}}
    assert parse_metrics(to_line({**usual, "loss": 0}))
    with pytest.raises(FolderError, match="line 1 is not the record of epoch 1"):
        parse_metrics(to_line({**usual, **changes}))


def test_brackets_that_python_still_reads_are_refused() -> None:
    for text in ("[" * 600 + "]" * 600, '{"a":' * 900 + "1" + "}" * 900):
        with pytest.raises(FolderError, match="too many brackets"):
            parse_metrics(f"{text}\n")


def test_a_sparse_file_takes_no_memory(run: Path) -> None:
    for name in ("metrics.jsonl", "config.toml", "seeds.json", "checkpoints/best/manifest.json"):
        (run / name).touch()
        os.truncate(run / name, 2**40)
    with pytest.raises(FolderError, match=r"seeds\.json .* more than \d+ bytes"):
        seeds_of(run)
    with pytest.raises(FolderError, match=r"metrics\.jsonl .* more than \d+ bytes"):
        read_metrics(run)
    with pytest.raises(FolderError, match=r"config\.toml .* more than \d+ bytes"):
        read_text(run / "config.toml")
    assert not RunFolder(run).has_best()


def test_metrics_of_every_epoch_are_read_back(run: Path) -> None:
    assert [line["epoch"] for line in read_metrics(run)] == list(range(1, EPOCHS + 1))
