"""The wheel and the sdist in fresh environments, away from the repository, as a user has them."""

import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
TINY = [
    *("--epochs=1", "--learner.num-envs=2", "--learner.rounds-per-epoch=1", "--quiet"),
    *("--learner.batch-size=4", "--learner.updates-per-round=1", "--method.hidden-sizes=4"),
]


class Environment:
    """A new virtual environment."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.bin = folder / "bin"

    def run(self, tool: str, *arguments: object, cwd: Path) -> str:
        command = [str(self.bin / tool), *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def install(self, *packages: object) -> None:
        tested = ["--constraint", ROOT / "constraints.txt"]
        self.run("pip", "install", "--quiet", *tested, *packages, cwd=self.bin)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a wheel and an sdist; twine finds nothing wrong with them."""
    folder = tmp_path_factory.mktemp("distributions")
    tools = Environment(tmp_path_factory.mktemp("tools"))
    tools.install("build", "twine")
    tools.run("python", "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    checked = tools.run("twine", "check", "--strict", *folder.iterdir(), cwd=folder)
    assert checked.count("PASSED") == 2
    return folder


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_a_fresh_environment_can_use_it(kind: str, distributions: Path, tmp_path: Path) -> None:
    (distribution,) = distributions.glob(kind)
    user = Environment(tmp_path / "venv")
    user.install(distribution)
    here = tmp_path / "here"
    here.mkdir()

    def pairvdn(*arguments: object) -> str:
        return user.run("pairvdn", *arguments, cwd=here)

    version = pairvdn("--version").split()[1]
    assert distribution.name.startswith(f"pairvdn-{version}")
    assert "box-jump/METHOD" in pairvdn("list")
    assert "paper-table" in pairvdn("study", "list")
    pairvdn("train", "climbing/pairvdn", "--out", "run", *TINY)
    assert "return" in pairvdn("evaluate", "run", "--episodes", "2")
    for run in ("run", "pretrained:box-jump"):
        steps = ["--max-steps", "4"] if run != "run" else []
        pairvdn("watch", run, "--episodes", "1", *steps, "--out", "page.html")
        assert "pairvdn watch" in (here / "page.html").read_text()
    refused = subprocess.run(
        [user.bin / "pairvdn", "plot", "run"], cwd=here, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "pip install 'pairvdn[view]'" in refused.stderr
