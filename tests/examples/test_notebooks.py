"""The notebooks: their cells run, and what is stored of their outputs is small and from one run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SAYS = {
    "01_train_and_watch": ["vdn        0.00", "pairvdn    4.00", "environment steps and"],
    "02_own_environment": ["vdn        0.0 of 12", "pairvdn   12.0 of 12", "steps per second"],
}


def printed(notebook: dict) -> str:
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    texts = [line for cell in cells for one in cell["outputs"] for line in one.get("text", [])]
    return "".join(texts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert path.stat().st_size < 100_000
    for line in SAYS[path.stem]:
        assert line in printed(notebook)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_text(path.read_text())
    script = [sys.executable, str(FOLDER / "run.py"), str(copy)]
    subprocess.run(script, cwd=tmp_path, check=True, capture_output=True)
    for line in SAYS[path.stem]:
        assert line in printed(json.loads(copy.read_text()))
