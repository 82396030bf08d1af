"""Random input to everything that reads: it is used, or refused in one line.

The rules: exit code 0, 1 or 2 with one line, or the documented exception; no traceback, no large
allocation, no good file changed or removed. A failure names its kind and number; `replay` in a
Python shell runs that case alone.
"""

import contextlib
import inspect
import io
import random
import resource
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
import pytest
from damage import contents, damage
from nasty import NUMBERS, TEXTS, VALUES, mutated_toml
from small_runs import GAME, shared_folder
from unchecked_types import unchecked_types

import pairvdn
from pairvdn import envs, maximise
from pairvdn.cli import main
from pairvdn.config import Config, load_preset
from pairvdn.config.errors import ConfigError
from pairvdn.config.toml import flat, read_toml
from pairvdn.runs import read_metrics, resume, train
from pairvdn.runs.analysis.compare import grouped
from pairvdn.runs.analysis.curves import learning_curve
from pairvdn.runs.errors import RunError
from pairvdn.studies.read import study_from

MOST_BYTES = 2**29  # that the memory may grow in one case
EPOCHS = 2
CONFIG = load_preset("climbing/vdn").replace(
    {**GAME, "epochs": EPOCHS, "evaluation.every": 1, "checkpoints.seconds": 0}
)
PRESETS = ("climbing/vdn", "wall/pairvdn", "box-jump/vdn-paper", "box-jump/pairvdn")
STUDY = """
about = "a study"
seeds = 2
tasks = ["wall", "climbing"]
methods = ["vdn", "iql"]
side_by_side = true

[fields]
epochs = 2
learner.num_envs = 4

[vary]
"optimiser.learning_rate" = [0.1, 0.2]

[evaluation]
episodes = 3

[columns]
return = "return"

[references.known]
source = "here"
values = { wall = 1.0 }

[figures.bars]
kind = "bars"
path = "return"
label = "return"

[resources]
cpus = 1.0
"""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs, side by side. Tests must not change them."""
    return shared_folder(
        "fuzzed", lambda folder: train(CONFIG, folder, num_seeds=2), tmp_path_factory
    )


@pytest.fixture(autouse=True)
def unwarned() -> Iterator[None]:
    """Warnings are as good as silence here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def largest_memory() -> int:
    """The most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def one_line(error: BaseException) -> str:
    assert len(str(error).strip().splitlines()) == 1, str(error)
    assert len(str(error)) < 2_000, str(error)
    return type(error).__name__


def run_command(*arguments: str) -> str:
    """The exit code of a command, which says one line if it fails."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = main(list(arguments))
    shown = errors.getvalue()
    assert code in (0, 1, 2), (code, arguments, shown)
    if code:
        assert shown.count("\n") == 1, (arguments, shown)
        assert "Traceback" not in shown
    return "accepted" if "exists: resume it" in shown else f"exit code {code}"


def flags(chance: random.Random, folder: Path, _: Path) -> str:
    """A command line. The folder exists, so that a valid one ends there and does not train."""
    preset = chance.choice(PRESETS)
    fields = [f"--{key.replace('_', '-')}" for key in flat(load_preset(preset).to_dict())]
    fields += ["--seeds", "--keep", "--method", "--devices", "--shard", "--training-env.max-steps"]
    given = []
    for _ in range(chance.randint(1, 3)):
        text = chance.choice([*TEXTS, *map(str, NUMBERS[:9]), *["1", "2", "3", "0.5", "true"] * 9])
        given += [f"{chance.choice(fields)}={text}"]
    if chance.random() < 0.1:
        preset = chance.choice(TEXTS)
    (folder / "taken").write_text("precious")
    done = run_command("train", preset, *given, "--out", str(folder), "--quiet")
    assert (folder / "taken").read_text() == "precious"
    return done


def configs(chance: random.Random, folder: Path, _: Path) -> str:
    """The text of a config; what is accepted can be written and read again."""
    text = mutated_toml(chance, load_preset(chance.choice(PRESETS)).to_toml())
    try:
        config = Config.from_toml(text, trust=False)
    except ConfigError as error:
        return one_line(error)
    assert Config.from_toml(config.to_toml(), trust=False) == config
    return "accepted"


def studies(chance: random.Random, folder: Path, _: Path) -> str:
    """The text of a study."""
    try:
        study = study_from("fuzzed", read_toml(mutated_toml(chance, STUDY), "study"), trust=False)
    except ConfigError as error:
        return one_line(error)
    for row in study.rows.values():
        row.command()
    return "accepted"


def folders(chance: random.Random, folder: Path, good: Path) -> str:
    """A damaged run: no command harms it, and a resumed one ends as the good one did."""
    elsewhere = folder / "elsewhere"
    elsewhere.write_text("precious")
    run = Path(shutil.copytree(good / "seed-0", folder / "run"))
    for _ in range(chance.randint(1, 2)):
        damage(chance, run, elsewhere)
    before = contents(run)
    read: list[Callable[[], object]] = [
        lambda: pairvdn.load(run),
        lambda: pairvdn.load(run, "best"),
        lambda: read_metrics(run),
        lambda: learning_curve([run]),
        lambda: learning_curve([run], metric="loss"),
        lambda: grouped([run]),
    ]
    try:
        for look in chance.sample(read, 2):
            look()
        assert contents(run) == before
        if chance.random() < 0.3:
            resume(run)
            ends = [jax.tree.leaves(pairvdn.load(one).value) for one in (run, good / "seed-0")]
            assert all(map(np.array_equal, *ends))
            return "resumed"
    except RunError as error:
        changed = {name for name, data in contents(run).items() if before.get(name) != data}
        assert changed <= {"lock"}, changed
        assert not before.keys() - contents(run).keys()
        return one_line(error)
    finally:
        assert elsewhere.read_text() == "precious"
    return "read"


def environments(chance: random.Random, folder: Path, _: Path) -> str:
    """Arguments of an environment; errors name the environment's argument, or what exists."""
    name = chance.choice([*envs.names()] * 3 + [*TEXTS[-20:], 5, None])
    arguments = {}
    if name in envs.names():
        known = list(inspect.signature(envs.constructor(name)).parameters)
        if known == ["changes"] or "changes" in known:
            known += ["num_boxes", "max_steps", "recipes"]
        for _ in range(chance.randint(0, 2)):
            key = chance.choice([*known, "num_agents", "max_steps", "nonsense"])
            arguments[key] = chance.choice(VALUES)
    with unchecked_types():
        try:
            made = envs.make(name, **arguments)
        except (ValueError, ImportError) as error:
            made = error
    if isinstance(made, envs.Environment):
        return "made"
    if arguments:
        assert any(key in str(made) for key in arguments), (name, arguments, made)
    return one_line(made)


def problems(chance: random.Random, folder: Path, _: Path) -> str:
    """Arguments of the maximisers."""
    n, a = chance.choice([0, 1, 2, 3]), chance.choice([0, 1, 2])
    dtype = chance.choice([np.float16, np.float32, np.float64, np.int32, np.complex64, object])
    generator = np.random.default_rng(chance.randrange(2**32))

    def array(*shape: int) -> object:
        if chance.random() < 0.15:
            return chance.choice([*VALUES, *TEXTS[:5]])
        return generator.integers(-3, 3, shape).astype(chance.choice([dtype, np.float32]))

    def indices(count: int) -> object:
        if chance.random() < 0.2:
            return chance.choice([10**7, 10**9, -1, [10**7], [[0, 10**7]], *VALUES])
        return generator.integers(0, max(n, 1), count)

    extra = {
        "utilities": array(n, a) if chance.random() < 0.4 else None,
        "mask": generator.integers(0, 2, (n, a)).astype(bool) if chance.random() < 0.4 else None,
    }
    functions = {
        "ring": lambda: maximise.ring(array(n, a, a), **extra),
        "path": lambda: maximise.path(array(max(n - 1, 0), a, a), **extra),
        "tree": lambda: maximise.tree(array(n, a, a), indices(n), **extra),
        "successor": lambda: maximise.successor(array(n, a, a), indices(n), **extra),
        "brute_force": lambda: maximise.brute_force(array(2, a, a), pairs(), **extra),
        "max_plus": lambda: maximise.max_plus(array(2, a, a), pairs(), **extra),
    }

    def pairs() -> object:
        found = indices(4)
        return found.reshape(2, 2) if isinstance(found, np.ndarray) and found.size == 4 else found

    with unchecked_types(), jax.numpy_dtype_promotion("standard"):
        try:
            best = functions[chance.choice(list(functions))]()
        except ValueError as error:
            return one_line(error)
    assert best.actions.dtype == np.int32
    return "solved"


KINDS = {one.__name__: one for one in (flags, configs, studies, folders, environments, problems)}
USUAL = {"flags": 50, "configs": 60, "studies": 60, "folders": 60, "environments": 100}
MANY = 1_700  # of each kind: more than 10,000 in all
# Every shape and type of a problem is a compiled program of some MB, and JAX keeps them all.
CASES_PER_CACHE = {"problems": 20}


def replay(kind: str, number: int, folder: Path, good: Path) -> str:
    """Run one case."""
    folder.mkdir()
    before = largest_memory()
    try:
        done = KINDS[kind](random.Random(f"{kind} {number}"), folder, good)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert largest_memory() - before < MOST_BYTES
    return done


@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_used_or_refused_in_one_line(
    kind: str, many: bool, good: Path, tmp_path: Path
) -> None:
    counts: Counter[str] = Counter()
    for number in range(MANY if many else USUAL.get(kind, 40)):
        if many and number % CASES_PER_CACHE.get(kind, 200) == 0:
            jax.clear_caches()
        try:
            counts[replay(kind, number, tmp_path / str(number), good)] += 1
        except Exception as error:
            error.add_note(f"this is case {number} of the kind {kind!r}")
            raise
    print(f"{kind}: {dict(counts)}")
    assert len(counts) > 1  # neither all used nor all refused
