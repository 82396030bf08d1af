"""What is compiled once is found again by every process of these tests."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For processes that are killed, apart: they leave half-written files behind."""
    return tmp_path_factory.mktemp("compiled")
