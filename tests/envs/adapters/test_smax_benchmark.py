"""The benchmark on SMAX: JaxMARL's recipe learns, and our preset differs only where it says so."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("jaxmarl", reason="needs pip install 'pairvdn[jaxmarl]'")

import smax
from probes import quick_jit

from pairvdn import envs
from pairvdn.envs.adapters.jaxmarl.original import lenient


def test_the_recipe_stays_finite_from_its_first_window_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"ENVIRONMENTS": 8, "STEPS": 6, "WINDOW": 4, "PASSES": 1, "MINIBATCHES": 2}
    for name, size in sizes.items():
        monkeypatch.setattr(smax, name, size)
    recipe = smax.Recipe(envs.make("t-maze"), steps=480, width=4)  # which masks turns
    one_round: Any = quick_jit(recipe.round)
    with lenient():  # as in the benchmark: Flax mixes types
        start = quick_jit(recipe.init)(jax.random.PRNGKey(0))
        state = one_round(one_round(start))
    before, after = (jax.tree.leaves(one[0]["params"]) for one in (start, state))
    assert all(np.isfinite(leaf).all() for leaf in after)
    assert all((old != new).any() for old, new in zip(before, after, strict=True))


def test_its_recurrent_unit_is_that_of_flax() -> None:
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    hidden, seen = jax.random.normal(keys[0], (5, 8)), jax.random.normal(keys[1], (7, 5, 6))
    fresh = jax.random.bernoulli(keys[2], 0.2, (7, 5))
    unit, cell = smax.Gru(8), nn.GRUCell(8)
    theirs = cell.init(keys[3], hidden, seen[0])["params"]
    theirs = jax.tree.map(lambda leaf: leaf + 0.1, theirs)  # biases start at 0
    ours = {
        "Dense_0": {
            part: jnp.concatenate([theirs[gate][part] for gate in ("ir", "iz", "in")], axis=-1)
            for part in ("kernel", "bias")
        },
        "recurrent": jnp.concatenate([theirs[gate]["kernel"] for gate in ("hr", "hz", "hn")], 1),
        "bias": theirs["hn"]["bias"],
    }
    with lenient():
        _, every = unit.apply({"params": ours}, hidden, seen, fresh)
        for step in range(len(seen)):
            hidden = jnp.where(fresh[step][:, None], 0.0, hidden)
            hidden, _ = cell.apply({"params": theirs}, hidden, seen[step])
            np.testing.assert_allclose(every[step], hidden, atol=1e-6)


def test_our_preset_is_that_recipe_but_for_its_network_and_the_length_of_rounds() -> None:
    config = smax.config_of("pairvdn", "3m", 2_000_000)
    learner, optimiser = config.learner.arguments, config.optimiser.arguments
    assert config.env.arguments["scenario"] == "3m"
    assert learner["num_envs"] == smax.ENVIRONMENTS
    assert learner["passes_per_round"] == smax.PASSES
    assert learner["burn_in"] == smax.WINDOW
    assert (learner["discount"], learner["trace_decay"]) == (smax.DISCOUNT, smax.TRACE)
    assert (learner["loss"], learner["gradient_clip"]) == ("squared", smax.CLIP)
    assert config.optimiser.name == "radam"
    assert (optimiser["decay_from"], optimiser["decay_to"]) == (0.0, 0.0)
    exploration = config.exploration.build(num_epochs=config.epochs)
    assert (exploration.start, exploration.end, exploration.epochs) == (1.0, 0.01, 12)
    assert config.method.arguments["layer_norm"]
    # As many updates, of as many steps.
    rounds = 2_000_000 // (smax.ENVIRONMENTS * smax.STEPS)
    assert config.num_updates() == rounds * smax.PASSES * smax.MINIBATCHES
    assert learner["batch_size"] == smax.ENVIRONMENTS * smax.STEPS // smax.MINIBATCHES
