"""What is compiled once is found again by every process of these tests."""

from pathlib import Path

import pytest
from attacked_runs import attacked_run


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For processes that are killed, apart: they leave half-written files behind."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with every checkpoint. Tests must not change it."""
    return attacked_run(tmp_path_factory)
