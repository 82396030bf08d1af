"""Names of the actions and observed numbers of JaxMARL's environments."""

from collections.abc import Callable, Sequence
from typing import Any

Names = Callable[[Any], Sequence[str]]


def numbers(env: Any) -> Sequence[str]:
    """No names: `or_numbers` fills them in."""
    return ()


def or_numbers(names: Sequence[str], size: int) -> tuple[str, ...]:
    """The names if there are as many as needed, otherwise numbers."""
    return tuple(names) if len(names) == size else tuple(map(str, range(size)))


def particle_actions(env: Any) -> Sequence[str]:
    """MPE: the directions of a force; no names if an agent sends messages instead of moving."""
    moves = ("stay", "left", "right", "down", "up")
    return moves if all(env.action_space(agent).n == len(moves) for agent in env.agents) else ()


def spread_observations(env: Any) -> Sequence[str]:
    """Simple Spread: the agent itself, landmarks and others relative to it, their messages."""
    others = env.num_agents - 1
    return [
        *_vector("velocity"),
        *_vector("position"),
        *(name for k in range(env.num_landmarks) for name in _vector(f"landmark {k}")),
        *(name for k in range(others) for name in _vector(f"other agent {k}")),
        *(f"message {k}, {c}" for k in range(others) for c in range(env.dim_c)),
    ]


def unit_actions(env: Any) -> Sequence[str]:
    """SMAX: directions, and an attack on each enemy."""
    return ("up", "right", "down", "left", "stop", *(f"attack {k}" for k in range(env.num_enemies)))


def unit_observations(env: Any) -> Sequence[str]:
    """SMAX's list of units: the other allies, the enemies, then the unit itself."""
    units = [f"ally {k}" for k in range(env.num_allies - 1)]
    units += [f"enemy {k}" for k in range(env.num_enemies)]
    seen = [f"{unit}: {_words(feature)}" for unit in units for feature in env.unit_features]
    return [*seen, *(f"own {_words(feature)}" for feature in env.own_features)]


def cook_actions(env: Any) -> Sequence[str]:
    """Overcooked: directions, and the use of the object in front."""
    return ("up", "down", "right", "left", "stay", "interact")


def cook_observations(env: Any) -> Sequence[str]:
    """Overcooked: the layers of every cell."""
    layers = env.obs_shape[-1]
    cells = [(row, column) for row in range(env.height) for column in range(env.width)]
    return [
        f"row {row}, column {column}: layer {k}" for row, column in cells for k in range(layers)
    ]


def _vector(name: str) -> tuple[str, str]:
    return f"{name} x", f"{name} y"


def _words(feature: str) -> str:
    return feature.replace("_", " ")
