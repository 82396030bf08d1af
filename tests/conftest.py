"""Settings for every test: promotion of ranks and types is an error, as are warnings."""

import os

import hypothesis
import jax

jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

# Compilation makes the first example of a shape slow, so time says nothing about a test's health.
hypothesis.settings.register_profile(
    "pairvdn",
    deadline=None,
    max_examples=50,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("pairvdn")
