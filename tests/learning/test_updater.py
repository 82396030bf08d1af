"""Updates: what moves, what follows, and what happens when learning blows up."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest
from gate import first
from probes import Probe, Tabular, make_tabular

from pairvdn.learning import Diverged, ErrorRule, TransitionLoss, WholePass, raise_if_diverged
from pairvdn.learning import replay as memory
from pairvdn.learning.records import Transition
from pairvdn.learning.updater import Updater
from pairvdn.values import Inputs

ENV = Probe(jnp.zeros((1, 2, 2)), length=1)


def batch(reward: float, size: int = 4) -> Transition:
    """Terminated transitions in which both agents took action 0."""
    sees = jnp.ones((2, 1))
    one = Transition(
        sees, sees[:, 0], jnp.zeros(2, jnp.int32), jnp.float32(reward), jnp.float32(0),
        sees, sees[:, 0], jnp.ones((2, 2), jnp.bool_),
    )  # fmt: skip
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (size, *leaf.shape)), one)


def updater(*, loss: str = "squared", **arguments: Any) -> Updater:
    criterion = TransitionLoss(ENV, ErrorRule(loss))
    return Updater(make_tabular(ENV), criterion, **({"optimiser": optax.sgd(0.25)} | arguments))


def weight(value: Any) -> float:
    return float(value.weights[0, 0, 0])


def test_sgd_on_the_squared_loss() -> None:
    learn = updater()
    start = learn.init(jax.random.key(0))
    after, stats = learn.update(start, batch(3.0), jnp.int32(0))
    before = weight(start.value)
    # Gradient of (3 - w)² is -2 (3 - w); a quarter of it is half of the way.
    assert weight(after.value) == pytest.approx((3 + before) / 2, rel=1e-6)
    assert float(stats.parts.loss) == pytest.approx((3 - before) ** 2, rel=1e-6)
    assert int(after.updates) == int(stats.updates) == 1


def test_target_is_an_average() -> None:
    learn = updater(target_average=0.9)
    start = learn.init(jax.random.key(0))
    assert weight(start.target) == weight(start.value)
    after, _ = learn.update(start, batch(3.0), jnp.int32(0))
    expected = 0.9 * weight(start.value) + 0.1 * weight(after.value)
    assert weight(after.target) == pytest.approx(expected, rel=1e-6)


def test_target_is_a_copy_made_now_and_then() -> None:
    learn = updater(target_period=2)
    start = learn.init(jax.random.key(0))
    one, _ = learn.update(start, batch(3.0), jnp.int32(0))
    two, _ = learn.update(one, batch(3.0), jnp.int32(0))
    three, _ = learn.update(two, batch(3.0), jnp.int32(0))
    assert weight(one.target) == weight(start.value)
    assert weight(two.target) == weight(two.value) == weight(three.target)


def test_gradient_clip_bounds_the_step() -> None:
    learn = updater(gradient_clip=1.0)
    start = learn.init(jax.random.key(0))
    after, _ = learn.update(start, batch(1000.0), jnp.int32(0))
    assert weight(after.value) - weight(start.value) == pytest.approx(0.25, rel=1e-4)


def test_huber_never_pulls_harder_than_one() -> None:
    learn = updater(loss="huber")
    start = learn.init(jax.random.key(0))
    after, _ = learn.update(start, batch(1000.0), jnp.int32(0))
    assert weight(after.value) - weight(start.value) == pytest.approx(0.25, rel=1e-4)


@pytest.mark.parametrize("reward", first(2, [1e30, float("nan"), float("inf")]))
def test_a_diverging_update_is_thrown_away_and_noted(reward: float) -> None:
    learn = updater(optimiser=optax.adam(0.1))
    sound, _ = learn.update(learn.init(jax.random.key(0)), batch(1.0), jnp.int32(0))
    frozen, stats = learn.update(sound, batch(reward), jnp.int32(5))
    later, _ = learn.update(frozen, batch(1.0), jnp.int32(6))
    for state in (frozen, later):
        same = eqx.tree_equal(
            (state.value, state.target, state.optimiser, state.updates),
            (sound.value, sound.target, sound.optimiser, sound.updates),
        )
        assert same
        assert bool(state.divergence.happened)
        assert (int(state.divergence.epoch), int(state.divergence.update)) == (5, 1)
    assert int(stats.updates) == 0
    assert float(stats.parts.loss) == 0.0  # metrics stay finite
    with pytest.raises(Diverged, match=r"epoch 5 at update 1: loss .* Try a smaller learning"):
        raise_if_diverged(later.divergence)


def test_parameters_beyond_the_bound_count_too() -> None:
    learn = updater(optimiser=optax.sgd(1e6), divergence_bound=1e4)
    frozen, _ = learn.update(learn.init(jax.random.key(0)), batch(3.0), jnp.int32(0))
    assert float(frozen.divergence.loss) < 1e4 < float(frozen.divergence.parameter)


def test_one_seed_diverges_and_the_others_go_on() -> None:
    learn = updater()
    start = jax.vmap(learn.init)(jax.random.split(jax.random.key(0), 2))
    batches = jax.tree.map(lambda *leaves: jnp.stack(leaves), batch(1e30), batch(3.0))
    after, _ = jax.vmap(lambda state, data: learn.update(state, data, jnp.int32(0)))(start, batches)
    assert after.divergence.happened.tolist() == [True, False]
    assert after.updates.tolist() == [0, 1]
    assert after.value.weights[0, 0, 0, 0] == start.value.weights[0, 0, 0, 0]
    assert after.value.weights[1, 0, 0, 0] != start.value.weights[1, 0, 0, 0]


def test_a_sound_run_raises_nothing() -> None:
    raise_if_diverged(updater().init(jax.random.key(0)).divergence)


def test_a_pass_updates_once_for_every_full_batch() -> None:
    learn = updater()
    replay = memory.empty_like(batch(0.0), 20)
    replay = memory.insert(replay, batch(3.0, size=11))
    learned, stats = learn.learn(
        learn.init(jax.random.key(0)), replay, WholePass(4), jax.random.key(1), jnp.int32(0)
    )
    assert int(learned.updates) == int(stats.updates) == 2


class WithFunction(eqx.Module):
    """What a value may hold besides arrays."""

    weights: jax.Array
    order: jax.Array
    activation: Any = jax.nn.relu


def test_values_may_hold_functions_and_whole_numbers() -> None:
    """Functions are set aside, integers are kept and not trained."""

    class Odd(Tabular):
        extra: WithFunction

        def __init__(self) -> None:
            super().__init__(jnp.ones((1, 2, 2)))
            self.extra = WithFunction(jnp.zeros((2, 2)), jnp.arange(3))

        def compute_tables(self, inputs: Inputs) -> Any:
            return self.extra.activation(super().compute_tables(inputs)) + self.extra.weights

    def make(*, key: Any) -> Odd:
        return Odd()

    learn = Updater(make, TransitionLoss(ENV), optimiser=optax.adam(0.1))
    after, _ = jax.jit(learn.update)(learn.init(jax.random.key(0)), batch(3.0), jnp.int32(0))
    assert all(eqx.is_array(leaf) for leaf in jax.tree.leaves(after))
    trained = learn.value(after)
    assert trained.extra.order.tolist() == [0, 1, 2]
    assert weight(trained) > 1.0
    assert float(trained.tables(jnp.ones((2, 1)), jnp.ones(2))[0, 0]) > 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "cubic"}, "loss must be one of squared, huber, not 'cubic'"),
        ({"target_average": 1.5}, r"target_average must be from 0 to 1, not 1\.5"),
        ({"target_period": 0}, "target_period must be at least 1, not 0"),
        ({"gradient_clip": 0.0}, r"gradient_clip must be greater than 0, not 0\.0"),
        ({"divergence_bound": -1.0}, r"divergence_bound must be greater than 0, not -1\.0"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        updater(**arguments)
