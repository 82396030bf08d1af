"""Losses of sequences: where nothing is remembered, those of the same steps as transitions."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import quick_jit

from pairvdn import envs, values
from pairvdn.acting import RandomPolicy, side_by_side
from pairvdn.learning import (
    BlockLoss,
    ErrorRule,
    ReturnRule,
    Sequence,
    SequenceLoss,
    Transition,
    TransitionLoss,
)
from pairvdn.learning.collector import Collector
from pairvdn.learning.recorders import Sequences, Windows
from pairvdn.learning.sequence_losses import unroll

ENV = envs.make("t-maze", corridor=3)  # terminates after four steps: no final frames
KEY = jax.random.PRNGKey(0)
LENGTH = 6


def value_of(method: str = "vdn", seed: int = 0, **network: Any) -> Any:
    arguments = {"hidden_sizes": (8,), "encoder_size": 5, **network}
    return values.make(method, ENV.spec, key=jax.random.PRNGKey(seed), **arguments)


def collected(value: Any, recorder: Any, length: int = LENGTH, env: Any = ENV) -> Any:
    """Random agent steps in two environments, as items of this recorder."""
    actor = side_by_side(RandomPolicy(value.encoder))
    collector = Collector(env, num_envs=2, discount=0.9, recorder=recorder)
    return quick_jit(collector.start, static_argnums=(1, 2))(KEY, actor, length)[1]


def sequences_and_transitions(value: Any) -> tuple[Sequence, Transition]:
    """The same steps; sequences have one more, to bootstrap from, so transitions get one too."""
    transitions = collected(value, Windows(1), LENGTH + 1)
    return (
        collected(value, Sequences(LENGTH)),
        jax.tree.map(lambda leaf: leaf[: 2 * LENGTH], transitions),
    )


@pytest.mark.parametrize("double_q", [False, True])
@pytest.mark.parametrize("rule", [ErrorRule(), ErrorRule("huber", 0.1), ErrorRule(rescale=True)])
def test_without_memory_a_sequence_is_its_transitions(double_q: bool, rule: ErrorRule) -> None:
    value, target = value_of(), value_of(seed=1)
    sequences, transitions = sequences_and_transitions(value)
    ours = eqx.filter_jit(SequenceLoss(ENV, rule, double_q=double_q))
    theirs = eqx.filter_jit(TransitionLoss(ENV, rule, double_q))
    loss, parts = ours(value, target, sequences)
    expected, others = theirs(value, target, transitions)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    jax.tree.map(
        lambda ours, theirs: np.testing.assert_allclose(ours, theirs, rtol=1e-5), parts, others
    )


def test_labels_with_lambda_0_are_one_step_targets() -> None:
    value = value_of("pairvdn")
    sequences, transitions = sequences_and_transitions(value)
    criterion = BlockLoss(ENV, returns=ReturnRule(trace_decay=0.0))
    items = eqx.filter_jit(criterion.prepare)(value, sequences)
    assert items.target.shape == (2 * LENGTH, 1, 1)  # single steps: there is no memory
    loss, _ = eqx.filter_jit(criterion)(value, None, items)
    expected, _ = eqx.filter_jit(TransitionLoss(ENV))(value, None, transitions)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_a_block_is_labelled_by_the_value_before_the_updates() -> None:
    """Labels stay while the value moves, and carry no gradient."""
    value = value_of(encoder="gru")
    sequences = collected(value, Sequences(LENGTH))
    criterion = BlockLoss(ENV)
    items = eqx.filter_jit(criterion.prepare)(value, sequences)
    assert items.target.shape == (2, LENGTH, 1)  # whole sequences
    assert items.sequence.frames.acted.shape == (2, LENGTH)

    slope = eqx.filter_jit(eqx.filter_grad(lambda v: criterion(v, None, items)[0]))
    leaves = jax.tree.leaves(slope(value_of(encoder="gru", seed=3)))
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    assert any((leaf != 0).any() for leaf in leaves)


@pytest.mark.parametrize("method", ["vdn", "pairvdn", "qmix", "iql"])
def test_gradients_reach_the_recurrent_weights(method: str) -> None:
    value = value_of(method, encoder="gru", inputs=("observation", "action", "identifier"))
    batch = collected(value, Sequences(LENGTH, burn_in=2))
    criterion = SequenceLoss(ENV, burn_in=2, double_q=True)
    slope = eqx.filter_jit(eqx.filter_grad(lambda v: criterion(v, value, batch)[0]))
    gradient = slope(value)
    assert (gradient.encoder.recurrent != 0).any()
    assert all((leaf != 0).any() for leaf in jax.tree.leaves(gradient.encoder))


def test_the_burn_in_refreshes_a_stale_carry() -> None:
    """Started at an episode's beginning, the burn-in gives the tables of the newest parameters."""
    value = value_of(encoder="gru")
    stale = collected(value_of(encoder="gru", seed=7), Sequences(4, burn_in=2), 4)
    one = jax.tree.map(lambda leaf: leaf[0], stale)  # from the first frame of an episode
    burned = unroll(ENV, value, one, 2).tables
    whole = unroll(ENV, value, one, 0).tables
    np.testing.assert_allclose(burned, whole[2:], rtol=1e-5)

    @eqx.filter_jit
    def slopes(value: Any) -> Any:
        """Of the first tables after the burn-in, and of the same without one."""
        cut = eqx.filter_grad(lambda v: unroll(ENV, v, one, 2).tables[0].sum())(value)
        full = eqx.filter_grad(lambda v: unroll(ENV, v, one, 0).tables[2].sum())(value)
        return cut.encoder.recurrent, full.encoder.recurrent

    cut, full = slopes(value)
    assert not np.allclose(cut, full)


def test_final_frames_are_not_learned() -> None:
    """The reward and the action of a frame without a step change nothing."""
    env = envs.make("aloha", max_steps=3)
    value = values.make("vdn", env.spec, key=KEY, encoder="gru", encoder_size=4, hidden_sizes=(4,))
    block = collected(value, Sequences(7), 7, env)
    idle = ~block.frames.acted
    assert int(idle.sum()) == 2 * 2  # frames 3 and 7
    other = eqx.tree_at(
        lambda s: (s.frames.reward_t, s.frames.actions),
        block,
        (
            jnp.where(idle, 99.0, block.frames.reward_t),
            jnp.where(idle[..., None], 1 - block.frames.actions, block.frames.actions),
        ),
    )
    for criterion in (
        SequenceLoss(env, returns=ReturnRule(3)),
        SequenceLoss(env, returns=ReturnRule(trace_decay=0.9)),
    ):
        loss = eqx.filter_jit(criterion)
        assert loss(value, value, block)[0] == loss(value, value, other)[0]


@pytest.mark.parametrize(
    ("rule", "arguments", "message"),
    [
        (ReturnRule, {"trace_decay": 1.5}, r"trace_decay must be from 0 to 1, not 1\.5"),
        (ReturnRule, {"n_step": 0}, "n_step must be at least 1, not 0"),
        (ErrorRule, {"huber_delta": 0.0}, r"huber_delta must be greater than 0, not 0\.0"),
    ],
)
def test_wrong_arguments_are_named(rule: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rule(**arguments)
