import random

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from walk import MAX_STEPS, NUM_AGENTS, Broken, Walk, WalkState, tell

from pairvdn.envs import ContractError, check_env
from pairvdn.envs.check import RULES
from pairvdn.envs.scene import Scene


def test_an_honest_environment_passes():
    assert check_env(Walk()) is None
    assert check_env(Broken()) is None  # so what follows fails because of what it replaces


def replace(field, change):
    """A hook for reset or step: this field of the TimeStep becomes `change(its value)`."""

    def hook(result, *_):
        state, time_step = result
        # Not through the constructor, which checks types in tests.
        where = lambda tree: getattr(tree, field)  # noqa: E731
        return state, eqx.tree_at(where, time_step, change(getattr(time_step, field)))

    return hook


def after_end(result, instead):
    """`instead` where the episode ended, else `result`."""
    ended = result[1].terminated | result[1].truncated
    return jax.tree.map(lambda new, old: jnp.where(ended, new, old), instead, result)


def reset_inside(derive):
    """The classic mistake: `step` returns the next episode's start with this one's end."""

    def hook(result, key, *_):
        fresh, first = Walk().reset(derive(key))
        first = eqx.tree_at(
            lambda step: (step.reward, step.agent_rewards, step.terminated, step.truncated),
            first,
            (result[1].reward, result[1].agent_rewards, result[1].terminated, result[1].truncated),
        )
        return after_end(result, (fresh, first))

    return hook


def shows_the_next_start(result, key, *_):
    """The state is honest, the observation is not."""
    first = Walk().reset(key)[1]
    shown = eqx.tree_at(
        lambda step: (step.observation, step.state, step.mask),
        result[1],
        (first.observation, first.state, first.mask),
    )
    return after_end(result, (result[0], shown))


def branches(result, *_):
    return result if result[1].reward > 0 else (result[0], result[1])


def only_new_keys(result, key):
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        return result
    return replace("observation", lambda x: x + 1)(result)


def differs_when_traced(result, *_):
    traced = isinstance(result[1].reward, jax.core.Tracer)
    return replace("observation", lambda x: x + jnp.float32(traced))(result)


@jax.custom_batching.custom_vmap
def shift_in_a_batch(x):
    return x


@shift_in_a_batch.def_vmap
def _(axis_size, in_batched, x):
    del axis_size
    return x + 1, in_batched[0]


def ignores_the_mask(result, key, state, actions):
    """Masked moves are taken, and the walls let everyone through."""
    moved = state.cells + jnp.array([-1, 0, 1, 2], jnp.int32)[actions]
    after = WalkState(moved, state.time + 1)
    return after, tell(after, result[1].terminated, result[1].truncated)


def grows(result, *_):
    return WalkState(result[0].cells, jnp.stack([result[0].time])), result[1]


def truncates_at(limit):
    def hook(result, *_):
        return replace("truncated", lambda _: result[0].time >= limit)(result)

    return hook


def broken_scene(field, value):
    return lambda scene: eqx.tree_at(lambda s: getattr(s.circles, field), scene, value)


def sized(**sizes):
    """The argument of `Broken` that declares other sizes than Walk's."""
    return {"spec": Walk.spec._replace(**sizes)}


BREAKS = {
    "num_agents is no number": ("sizes", sized(num_agents="two")),
    "max_steps 0": ("sizes", {"max_steps": 0}),
    "no name": ("sizes", {"name": ""}),
    "an array inside": ("hashable", {"extra": jnp.ones(3)}),
    "a Python branch": ("traceable", {"on_step": branches}),
    "wrong observation size": (
        "shapes and dtypes",
        sized(observation_size=3) | {"observation_names": ("place", "time", "more")},
    ),
    "wrong state size": ("shapes and dtypes", sized(state_size=1)),
    "wrong number of actions": (
        "shapes and dtypes",
        sized(num_actions=3) | {"action_names": ("left", "stay", "right")},
    ),
    "reward of rank 1": (
        "shapes and dtypes",
        {"on_step": replace("reward", lambda x: x[None])},
    ),
    "flag as number": (
        "shapes and dtypes",
        {"on_reset": replace("terminated", lambda x: x.astype(jnp.float32))},
    ),
    "no TimeStep": ("shapes and dtypes", {"on_reset": lambda result, key: (result[0], 1.0)}),
    "state changes shape": ("state structure", {"on_step": grows}),
    "state changes structure": (
        "state structure",
        {"on_step": lambda result, *_: ((result[0], result[0]), result[1])},
    ),
    "state changes weak type": (
        "state structure",
        {
            "on_reset": lambda result, key: (WalkState(result[0].cells, jnp.asarray(0)), result[1]),
            "on_step": lambda result, *_: (WalkState(result[0].cells, jnp.int32(1)), result[1]),
        },
    ),
    "reward at reset": ("reset", {"on_reset": replace("reward", lambda x: x + 1)}),
    "flag at reset": ("reset", {"on_reset": replace("truncated", lambda x: ~x)}),
    "NaN observed": ("finite", {"on_step": replace("observation", lambda x: x / 0 * 0)}),
    "infinite reward": ("finite", {"on_step": replace("agent_rewards", lambda x: x + jnp.inf)}),
    "global randomness in reset": (
        "deterministic",
        {"on_reset": replace("observation", lambda x: x + random.random())},
    ),
    "global randomness in step": (
        "deterministic",
        {"on_step": replace("observation", lambda x: x + random.random())},
    ),
    "only new keys": ("keys", {"on_reset": only_new_keys}),
    "only new keys in step": (
        "keys",
        {"on_step": lambda result, key, *_: only_new_keys(result, key)},
    ),
    "jit differs in reset": ("jit", {"on_reset": differs_when_traced}),
    "jit differs in step": ("jit", {"on_step": differs_when_traced}),
    "vmap differs in reset": ("vmap", {"on_reset": replace("observation", shift_in_a_batch)}),
    "vmap differs in step": ("vmap", {"on_step": replace("observation", shift_in_a_batch)}),
    "reward is no sum": ("team reward", {"on_step": replace("agent_rewards", lambda x: x + 1)}),
    "reward is no mean": ("team reward", {"team_reward": "mean"}),
    "unknown team reward": ("team reward", {"team_reward": "median"}),
    "early truncation": ("truncation", {"on_step": truncates_at(MAX_STEPS - 5)}),
    "late truncation": ("truncation", {"on_step": truncates_at(MAX_STEPS + 1)}),
    "nothing allowed": (
        "mask",
        {"on_step": replace("mask", lambda x: x & (jnp.arange(NUM_AGENTS)[:, None] > 0))},
    ),
    "mask ignored": ("mask", {"on_step": ignores_the_mask}),
    "resets with its key": ("step never resets", {"on_step": reset_inside(lambda key: key)}),
    "resets with a split key": (
        "step never resets",
        {"on_step": reset_inside(lambda key: jax.random.split(key)[1])},
    ),
    "resets with a key of its own": (
        "step never resets",
        {"on_step": reset_inside(lambda key: jax.random.fold_in(key, 7))},
    ),
    "final observation lost": ("final observation", {"on_step": shows_the_next_start}),
    "no Scene": ("scene", {"on_scene": lambda scene: scene.bounds}),
    "bounds upside down": (
        "scene",
        {"on_scene": lambda scene: Scene(bounds=-scene.bounds, circles=scene.circles)},
    ),
    "infinite radius": (
        "scene",
        {"on_scene": broken_scene("radius", jnp.full((NUM_AGENTS,), jnp.inf))},
    ),
    "colour out of range": (
        "scene",
        {"on_scene": broken_scene("colour", jnp.full((NUM_AGENTS, 3), 255.0))},
    ),
    "agent out of range": (
        "scene",
        {"on_scene": broken_scene("agent", jnp.full((NUM_AGENTS,), NUM_AGENTS))},
    ),
    "positions of the wrong shape": ("positions", {"on_positions": lambda places: places[0]}),
    "positions not declared": ("positions", sized(has_positions=False)),
    "positions not finite": ("positions", {"on_positions": lambda places: places / 0}),
    "any actions are taken": (
        "actions",
        {"on_actions": lambda given: jnp.clip(given[:NUM_AGENTS].astype(jnp.int32), 0, 3)},
    ),
    "an action without a name": ("names", {"action_names": ("left", "stay", "right")}),
    "two numbers of one name": ("names", {"observation_names": ("place", "place")}),
}


@pytest.mark.parametrize("case", BREAKS)
def test_a_broken_environment_is_caught_by_the_rule(case):
    rule, arguments = BREAKS[case]
    with pytest.raises(ContractError) as caught:
        check_env(Broken(**arguments))
    assert caught.value.rule == rule, caught.value
    assert repr(rule) in str(caught.value)


def test_every_rule_is_broken_by_something():
    assert {rule for rule, _ in BREAKS.values()} == set(RULES)


def test_a_mean_reward_passes_if_said():
    halve = replace("reward", lambda x: x / NUM_AGENTS)
    check_env(Broken(on_step=halve, team_reward="mean"))


def test_a_step_after_the_end_may_say_anything():
    # One that tells its end only once does not reset.
    check_env(Broken(on_step=lambda r, *_: replace("truncated", lambda _: r[0].time == 6)(r)))
