"""Each gate of `make test` bites: shown on a small offence of its own kind."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent


def run(tool: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(TOOLS / tool), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package and of the settings of all gates."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_format(copy: Path) -> None:
    assert run("ruff", "format", "--check", "src", cwd=copy).returncode == 0
    (copy / "src/pairvdn/ugly.py").write_text('"""Ugly."""\nx   = 1\n')
    assert run("ruff", "format", "--check", "src", cwd=copy).returncode == 1


def test_lint(copy: Path) -> None:
    assert run("ruff", "check", "src", cwd=copy).returncode == 0
    (copy / "src/pairvdn/unused.py").write_text('"""Unused."""\n\nimport os\n')
    found = run("ruff", "check", "src", cwd=copy)
    assert found.returncode == 1
    assert "F401" in found.stdout


def lint_imports(copy: Path) -> subprocess.CompletedProcess[str]:
    """Look at the copy, not at the installed package."""
    return subprocess.run(
        [str(TOOLS / "lint-imports"), "--no-cache"],
        cwd=copy,
        env={"PYTHONPATH": str(copy / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_layers(copy: Path) -> None:
    assert lint_imports(copy).returncode == 0
    (copy / "src/pairvdn/maximise/upwards.py").write_text("from pairvdn.envs import make\n")
    found = lint_imports(copy)
    assert found.returncode == 1
    assert "pairvdn.maximise.upwards -> pairvdn.envs" in found.stdout


@pytest.mark.parametrize(
    ("module", "text", "broken"),
    [
        (
            "runs/folder.py",
            "from pairvdn.runs.train import train\n",
            "runs.folder -> pairvdn.runs.train",
        ),
        ("runs/signals.py", "import pairvdn.runs.folder\n", "runs.signals -> pairvdn.runs.folder"),
        ("runs/stray.py", '"""In no layer."""\n', "stray"),
    ],
)
def test_layers_of_runs(copy: Path, module: str, text: str, broken: str) -> None:
    with (copy / "src/pairvdn" / module).open("a") as file:
        file.write(text)
    found = lint_imports(copy)
    assert found.returncode == 1
    assert broken in found.stdout


def test_a_module_that_is_in_no_layer_is_refused(copy: Path) -> None:
    (copy / "src/pairvdn/stray.py").write_text('"""In no layer."""\n')
    found = lint_imports(copy)
    assert found.returncode == 1
    assert "stray" in found.stdout


@pytest.mark.slow  # make test runs mypy itself
def test_types(copy: Path) -> None:
    (copy / "src/pairvdn/wrong.py").write_text('"""Wrong."""\n\nCOUNT: int = "many"\n')
    found = run("mypy", "src/pairvdn/wrong.py", cwd=copy)
    assert found.returncode == 1
    assert "Incompatible types in assignment" in found.stdout


def test_coverage(tmp_path: Path) -> None:
    """`fail_under` is a percentage and is read: half of this module is never run."""
    (tmp_path / "half.py").write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    (tmp_path / "test_half.py").write_text("import half\n\n\ndef test_f():\n    assert half.f(1)\n")
    settings = (ROOT / "pyproject.toml").read_text()
    report = settings[settings.index("[tool.coverage.report]") :].split("\n\n")[0]
    (tmp_path / "pyproject.toml").write_text(report)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--cov=half", "test_half.py"]
    found = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "1 passed" in found.stdout
    assert "less than fail-under=90" in found.stdout


def test_warnings_and_promotions_are_errors() -> None:
    import warnings

    import jax.numpy as jnp

    with pytest.raises(UserWarning, match="bite"):
        warnings.warn("bite", UserWarning, stacklevel=1)
    with pytest.raises(ValueError, match="rank_promotion"):
        jnp.zeros(3) - jnp.zeros((3, 1))
    with pytest.raises(Exception, match="strict"):
        jnp.zeros(3, jnp.int32) * jnp.zeros(3, jnp.float32)


def test_shapes_are_checked_in_tests() -> None:
    import jax.numpy as jnp

    from pairvdn.types import Maximum

    with pytest.raises(TypeError, match="actions"):
        Maximum(actions=jnp.zeros((2, 2), jnp.int32), value=jnp.zeros(()), bound=jnp.zeros(()))
