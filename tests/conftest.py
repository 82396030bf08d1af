"""Settings for every test: promotion of ranks and types is an error, as are warnings."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import jax
import pytest

# Tests compile far longer than they run: what one worker, or an earlier run of the tests, has
# compiled is found again. Processes that tests start read the same settings from the environment.
COMPILED = {
    "jax_compilation_cache_dir": str(Path(__file__).parents[1] / ".jax_cache"),
    "jax_persistent_cache_min_compile_time_secs": 0.0,
}
# As commands do (`cli/compilation.py`), whose bits some tests compare with those of the library.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=1")
for setting, wanted in COMPILED.items():
    os.environ.setdefault(setting.upper(), str(wanted))
    jax.config.update(setting, type(wanted)(os.environ[setting.upper()]))

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

# Compilation makes the first example of a shape slow, so time says nothing about a test's health.
# Therefore `make test` tries few examples; `make test-all` has `--hypothesis-profile thorough`.
for profile, examples in {"gate": 10, "thorough": 50}.items():
    hypothesis.settings.register_profile(
        profile,
        deadline=None,
        max_examples=examples,
        derandomize="CI" in os.environ,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
hypothesis.settings.load_profile("gate")

MOST_MAPPINGS = 20_000  # of memory


@pytest.fixture(scope="module", autouse=True)
def few_programs() -> Iterator[None]:
    """Between modules, forget compiled programs if there are too many.

    Each takes several mappings of memory. Linux allows a process 65,530 of them; with more it dies
    of a segmentation fault.
    """
    yield
    mappings = Path("/proc/self/maps")
    if mappings.exists() and mappings.read_bytes().count(b"\n") > MOST_MAPPINGS:
        jax.clear_caches()
        gc.collect()


@pytest.fixture(scope="session", autouse=True)
def shared_programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """In `make test` small runs of one config are compiled once."""
    if not request.config.option.markexpr:
        yield
        return
    from shared_programs import share_programs

    with pytest.MonkeyPatch.context() as patch:
        share_programs(patch)
        yield
