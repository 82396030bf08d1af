"""Values and inputs of one small size, for the tests of this folder."""

import itertools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pairvdn import values
from pairvdn.types import EnvSpec

# What a method needs besides its defaults to be maximised exactly.
EXACT = {"dcg": {"graph": "ring"}, "casec": {"kept": 1.0}}
# Methods that choose pairs together with actions: good joint actions, but not always the best.
APPROXIMATE = ("pairvdn-learned", "sop-cg")


def spec(num_agents=3, num_actions=3, observation_size=4, state_size=5):
    """Small sizes, of an environment that has positions."""
    return EnvSpec(num_agents, num_actions, observation_size, state_size, has_positions=True)


DEFAULT = spec()


def build(method, sizes=DEFAULT, *, seed=0, **arguments):
    arguments = {"hidden_sizes": (16, 16), **EXACT.get(method, {}), **arguments}
    return values.make(method, sizes, key=jax.random.key(seed), **arguments)


class Observed(NamedTuple):
    """The arguments of `tables_of`, which are those of `tables` where there is no encoder."""

    observation: jax.Array
    state: jax.Array
    positions: jax.Array


def inputs(sizes=DEFAULT, *, batch=(), seed=0):
    keys = jax.random.split(jax.random.key(seed), 3)
    return Observed(
        jax.random.normal(keys[0], (*batch, sizes.num_agents, sizes.observation_size)),
        jax.random.normal(keys[1], (*batch, sizes.state_size)),
        jax.random.uniform(keys[2], (*batch, sizes.num_agents, 2)),
    )


def joint_actions(sizes=DEFAULT):
    """Every joint action, one in each row."""
    every = itertools.product(range(sizes.num_actions), repeat=sizes.num_agents)
    return jnp.asarray(np.array(list(every), dtype=np.int32))


# Compiled once for each method and size, for all tests of a worker: operation by operation, every
# test would compile hundreds of small programs.
@eqx.filter_jit
def tables_of(value, observed):
    return value.tables(*observed)


@eqx.filter_jit
def greedy(value, tables, mask):
    return value.greedy(tables, mask)


@eqx.filter_jit
def evaluate(value, tables, actions):
    return value.evaluate(tables, actions)


@eqx.filter_jit
def best_by_enumeration(value, tables, mask, sizes=DEFAULT):
    """The largest value of an allowed joint action, by looking at all of them."""
    joint = joint_actions(sizes)
    worth = jax.vmap(lambda actions: value.evaluate(tables, actions)[0])(joint)
    allowed = jnp.take_along_axis(mask.T, joint, axis=0).all(axis=1)
    return jnp.where(allowed, worth, -jnp.inf).max()
