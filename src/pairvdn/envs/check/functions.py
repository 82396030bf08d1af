"""Rules of pure functions: a key gives the same result, with and without jit or vmap.

Steps are compared one by one from the same states, never whole episodes: in a chaotic environment a
rounding error in one step grows without bound.
"""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from pairvdn.envs.check.subject import Outcome, Subject, Transition, close, identical

# Steps are slow without jit, so only a few are compared: early, in the middle, late.
_NUM_EAGER = 3


def deterministic(subject: Subject[Any]) -> Iterator[str]:
    """The same key gives the same bits."""
    if not identical(subject.env.reset(subject.key), subject.env.reset(subject.key)):
        yield "reset twice with the same key gives different results"
    step = subject.samples[0]
    results = [subject.env.step(step.key, step.state, step.actions) for _ in range(2)]
    if not identical(*results):
        yield "step twice with the same key, state and actions gives different results"
    if not identical(subject.episodes, subject.play()):
        yield "the same episodes, played twice, differ"


def actions(subject: Subject[Any]) -> Iterator[str]:
    """Outside of `jax.jit`, `step` refuses actions that do not exist."""
    env, right = subject.env, subject.any_actions
    wrong = {
        "of floats": right.astype(jnp.float32),
        f"of {env.num_actions}, which does not exist": right.at[0].set(env.num_actions),
        "of -1": right.at[0].set(-1),
        "of one agent too many": jnp.concatenate([right, right[:1]]),
    }
    for name, given in wrong.items():
        try:
            env.step(subject.key, subject.start.state, given)
        except Exception:  # of any kind: user code chooses
            continue
        yield f"step accepts actions {name}: begin it with `actions = self.as_actions(actions)`"


def keys(subject: Subject[Any]) -> Iterator[str]:
    """`jax.random.key` and the uint32[2] of `jax.random.PRNGKey` give the same."""
    old_style = jax.random.key_data(subject.key)
    start = subject.reset(old_style)
    if not close(start, subject.start):
        yield "reset differs between a new-style key and the same key as uint32[2]"
    step = Outcome(*subject.step(old_style, start[0], subject.any_actions))
    if not close(step, subject.step(subject.key, subject.start.state, subject.any_actions)):
        yield "step differs between a new-style key and the same key as uint32[2]"


def jit(subject: Subject[Any]) -> Iterator[str]:
    """Compiled or not, `reset` and `step` do the same."""
    if not close(subject.env.reset(subject.key), subject.start):
        yield "reset differs between jit and no jit"
    picked = subject.samples[:: max(1, (len(subject.samples) - 1) // (_NUM_EAGER - 1))]
    wrong = sum(
        not close(
            subject.env.step(step.key, step.state, step.actions),
            subject.step(step.key, step.state, step.actions),
        )
        for step in picked
    )
    if _too_many(wrong, len(picked)):
        yield f"{wrong} of {len(picked)} steps differ between jit and no jit"


def vmap(subject: Subject[Any]) -> Iterator[str]:
    """A batch of resets or steps gives the same as a loop."""
    some_keys = jax.random.split(subject.key, len(subject.samples))
    resets = jax.jit(jax.vmap(subject.env.reset))(some_keys)
    if not close(resets, _stacked([subject.reset(key) for key in some_keys])):
        yield "reset differs between vmap and a loop"
    batch: Transition = _stacked(subject.samples)
    results = jax.jit(jax.vmap(subject.env.step))(batch.key, batch.state, batch.actions)
    wrong = sum(
        not close(jax.tree.map(lambda leaf, i=i: leaf[i], tuple(results)), tuple(sample.outcome))
        for i, sample in enumerate(subject.samples)
    )
    if _too_many(wrong, len(subject.samples)):
        yield f"{wrong} of {len(subject.samples)} steps differ between vmap and a loop"


def _too_many(wrong: int, of: int) -> bool:
    """More than rounding explains: it can flip a comparison inside a step, but rarely."""
    return wrong > of // 3


def _stacked(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
