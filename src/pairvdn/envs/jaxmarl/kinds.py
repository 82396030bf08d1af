"""What JaxMARL's environments do not say of themselves, for the kinds that we know."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.jaxmarl import scenes
from pairvdn.envs.scene import Scene


class Kind(NamedTuple):
    """What masked actions do, whose reward a reward is, where agents are, how it looks."""

    no_op: Callable[[Any], int] = lambda env: 0
    team_reward: Literal["sum", "mean"] = "sum"
    positions: Callable[[Any, Array, Array], Array] | None = None
    scene: Callable[[Any, Any], Scene] = scenes.dots


def spread_positions(
    env: Any, observation: Float[Array, "n o"], state: Float[Array, " s"]
) -> Float[Array, "n 2"]:
    """Agents of Simple Spread see their velocity, then their place."""
    return observation[:, 2:4]


def unit_positions(
    env: Any, observation: Float[Array, "n o"], state: Float[Array, " s"]
) -> Float[Array, "n 2"]:
    """SMAX's world state begins with a row of features per unit: health, x, y, ...

    The rows of dead units are 0.
    """
    n, features = observation.shape[0], len(env.own_features)
    return state[: n * features].reshape(n, features)[:, 1:3]


def cook_positions(
    env: Any, observation: Float[Array, "n o"], state: Float[Array, " s"]
) -> Float[Array, "n 2"]:
    """Overcooked's first channel is 1 where the agent itself stands, in rows from the top."""
    channel = observation.reshape(observation.shape[0], env.height, env.width, -1)[..., 0]
    cell = jnp.argmax(channel.reshape(channel.shape[0], -1), axis=1)
    return jnp.stack([cell % env.width, -(cell // env.width)], axis=1).astype(jnp.float32)


_SMAX = Kind(
    no_op=lambda env: env.num_movement_actions - 1,
    team_reward="mean",
    positions=unit_positions,
    scene=scenes.units,
)
# By the name of the class or of one that it derives from, since JaxMARL need not be installed.
KINDS: dict[str, Kind] = {
    "SimpleSpreadMPE": Kind(positions=spread_positions, scene=scenes.particles),
    "SimpleMPE": Kind(scene=scenes.particles),
    "SMAX": _SMAX,
    "EnemySMAX": _SMAX,
    "Overcooked": Kind(
        no_op=lambda env: 4, team_reward="mean", positions=cook_positions, scene=scenes.kitchen
    ),
    "OvercookedV2": Kind(no_op=lambda env: 4, team_reward="mean"),
    "HanabiEnv": Kind(no_op=lambda env: env.num_moves - 1, team_reward="mean"),
}


def kind_of(env: Any) -> Kind:
    """The most special kind that `env` is of."""
    known = [KINDS[one.__name__] for one in type(env).__mro__ if one.__name__ in KINDS]
    return known[0] if known else Kind()
