"""TOML of strangers: what would exhaust the reader, or recursion, is refused in one line."""

import os
import time
from pathlib import Path

import pytest

from pairvdn.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.config.toml import levels_exceed, read_toml, read_toml_file


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 500_000 + " = 1",
        "[" + "a." * 200_000 + "a]",
        "x = {a" + ' . "a"' * 100_000 + " = 1}",
        "a" * 1_000_000 + ".b" * 100_000 + " = 1",
    ],
)
def test_keys_of_many_parts_are_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(
        ConfigError, match=r"The config cannot be used: a key has more than 100 dot"
    ):
        Config.from_toml(text, trust=False)
    assert time.process_time() - began < 5  # Python's reader would take hours


@pytest.mark.parametrize("text", ["a" + ".a" * 60 + " = 1", "a = " + "[" * 60 + "]" * 60])
def test_deep_tables_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="inside each other"):
        read_toml(text, "x")


def test_long_texts_are_not_keys() -> None:
    words = "Version 1.5 is out. See a.b.c, please. " * 1_000
    table = read_toml(f"about = '{words}'\n[a.b.c]\nd = [[1.5, 2.5]]", "x")
    assert table == {"about": words, "a": {"b": {"c": {"d": [[1.5, 2.5]]}}}}


def test_levels_are_counted_without_recursion() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    assert levels_exceed(20, value)
    assert not levels_exceed(2, {"a": [1, {}], "b": 1})
    assert levels_exceed(1, {"a": [1]})


def test_a_sparse_file_takes_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.touch()
    os.truncate(file, 2**40)
    with pytest.raises(ConfigError, match=r"x\.toml is too large"):
        read_toml_file(file)
