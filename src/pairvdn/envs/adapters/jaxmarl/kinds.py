"""Facts that JaxMARL's environments do not declare: no-op, rewards, positions, drawing, names."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.adapters.jaxmarl import names
from pairvdn.envs.adapters.jaxmarl.names import Names
from pairvdn.envs.base import TeamReward
from pairvdn.envs.scene import Circles, Rectangles, Scene, row_of_dots

AGENT = (0.35, 0.35, 0.85)
ENEMY = (0.80, 0.25, 0.25)
DEAD = (0.75, 0.75, 0.75)
# By the number of the object in Overcooked: unseen, empty, wall, onion, onion pile, plate, plate
# pile, goal, pot, dish, agent (drawn on top).
OBJECTS = (
    (0.95, 0.95, 0.92),
    (0.95, 0.95, 0.92),
    (0.60, 0.55, 0.50),
    (0.95, 0.85, 0.30),
    (0.80, 0.65, 0.10),
    (0.90, 0.95, 1.00),
    (0.65, 0.75, 0.85),
    (0.35, 0.70, 0.35),
    (0.25, 0.25, 0.25),
    (0.95, 0.60, 0.30),
    (0.95, 0.95, 0.92),
)


def dots(env: Any, inner: Any) -> Scene:
    """A row of dots, for environments of an unknown kind."""
    return row_of_dots(len(env.agents))


def particles(env: Any, inner: Any) -> Scene:
    """MPE: agents and landmarks with the radii and colours that JaxMARL gives them."""
    centres = inner.p_pos
    # Agents may leave the square, so the window grows with them.
    half = jnp.maximum(1.0, jnp.max(jnp.abs(centres))) + 0.3
    colour = jnp.clip(jnp.asarray(env.colour, jnp.float32) / 255, 0, 1)
    return Scene(
        bounds=jnp.stack([-half, -half, half, half]),
        circles=_circles(centres, jnp.asarray(env.rad, jnp.float32), colour, env.num_agents),
    )


def units(env: Any, inner: Any) -> Scene:
    """SMAX: allies blue, enemies red, the dead small and grey."""
    battle = getattr(inner, "state", inner)  # scripted enemies wrap it
    side = jnp.where((battle.unit_teams == 0)[:, None], jnp.array([AGENT]), jnp.array([ENEMY]))
    alive = battle.unit_alive
    return Scene(
        bounds=jnp.array([0.0, 0.0, env.map_width, env.map_height]),
        circles=_circles(
            battle.unit_positions,
            jnp.where(alive, env.unit_type_radiuses[battle.unit_types], 0.2),
            jnp.where(alive[:, None], side, jnp.array([DEAD])),
            len(env.agents),
        ),
    )


def kitchen(env: Any, inner: Any) -> Scene:
    """Overcooked: the cells of the map, and the cooks; held objects are smaller circles."""
    height, width = env.height, env.width
    margin = (inner.maze_map.shape[0] - height) // 2  # the map is padded for views
    cells = inner.maze_map[margin : margin + height, margin : margin + width, 0].reshape(-1)
    x, y = jnp.meshgrid(jnp.arange(width), -jnp.arange(height))
    centre = jnp.stack([x, y], axis=-1).reshape(-1, 2).astype(jnp.float32)
    places = inner.agent_pos.astype(jnp.float32) * jnp.array([[1.0, -1.0]])
    n, table = places.shape[0], jnp.array(OBJECTS)
    held = table[inner.agent_inv.astype(jnp.int32)]
    holds = inner.agent_inv > 1  # 1 is the empty hand
    return Scene(
        bounds=jnp.array([-0.5, 0.5 - height, width - 0.5, 0.5]),
        rectangles=Rectangles(
            centre=centre,
            size=jnp.full(centre.shape, 0.96),
            angle=jnp.zeros(centre.shape[0]),
            colour=table[cells.astype(jnp.int32)],
            agent=jnp.full(centre.shape[0], -1, jnp.int32),
        ),
        circles=_circles(
            jnp.concatenate([places, places]),
            jnp.concatenate([jnp.full((n,), 0.4), jnp.where(holds, 0.2, 0.0)]),
            jnp.concatenate([jnp.tile(jnp.array([AGENT]), (n, 1)), held]),
            n,
        ),
    )


def _circles(
    centre: Float[Array, "k 2"],
    radius: Float[Array, " k"],
    colour: Float[Array, "k 3"],
    num_agents: int,
) -> Circles:
    """Circles; the first `num_agents` are the agents."""
    number = jnp.arange(centre.shape[0], dtype=jnp.int32)
    return Circles(centre, radius, colour, agent=jnp.where(number < num_agents, number, -1))


def spread_positions(
    env: Any, observation: Float[Array, "n o"], state: Float[Array, " s"]
) -> Float[Array, "n 2"]:
    """Agents of Simple Spread observe their velocity, then their position."""
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
    """Overcooked's first channel is 1 at the agent's own cell, in rows from the top."""
    channel = observation.reshape(observation.shape[0], env.height, env.width, -1)[..., 0]
    cell = jnp.argmax(channel.reshape(channel.shape[0], -1), axis=1)
    return jnp.stack([cell % env.width, -(cell // env.width)], axis=1).astype(jnp.float32)


class Kind(NamedTuple):
    """The no-op, the rule of the team reward, positions, a drawing, names, and a warning."""

    no_op: Callable[[Any], int] = lambda env: 0
    team_reward: TeamReward = "sum"
    positions: Callable[[Any, Array, Array], Array] | None = None
    scene: Callable[[Any, Any], Scene] = dots
    action_names: Names = names.numbers
    observation_names: Names = names.numbers
    warning: str = ""


_SMAX = Kind(
    no_op=lambda env: env.num_movement_actions - 1,
    team_reward="mean",
    positions=unit_positions,
    scene=units,
    action_names=names.unit_actions,
    observation_names=names.unit_observations,
)
_BOTH_ARMIES = (
    "SMAX trains both armies as one team, which gains nothing from fighting; "
    "HeuristicEnemySMAX has one army and scripted enemies."
)
# By the name of the class or a base class, since JaxMARL may not be installed.
KINDS: dict[str, Kind] = {
    "SimpleSpreadMPE": Kind(
        positions=spread_positions,
        scene=particles,
        action_names=names.particle_actions,
        observation_names=names.spread_observations,
    ),
    "SimpleMPE": Kind(scene=particles, action_names=names.particle_actions),
    "SMAX": _SMAX._replace(warning=_BOTH_ARMIES),
    "EnemySMAX": _SMAX,
    "Overcooked": Kind(
        no_op=lambda env: 4,
        team_reward="mean",
        positions=cook_positions,
        scene=kitchen,
        action_names=names.cook_actions,
        observation_names=names.cook_observations,
    ),
    "OvercookedV2": Kind(no_op=lambda env: 4, team_reward="mean"),
    "HanabiEnv": Kind(no_op=lambda env: env.num_moves - 1, team_reward="mean"),
}


def kind_of(env: Any) -> Kind:
    """The most specific known kind of `env`."""
    known = [KINDS[base.__name__] for base in type(env).__mro__ if base.__name__ in KINDS]
    return known[0] if known else Kind()
