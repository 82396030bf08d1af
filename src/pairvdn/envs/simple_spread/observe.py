"""What agents observe: themselves, then everything else as seen from where they are."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.simple_spread.types import SimpleSpreadState

WORDS = 2  # mpe2 has room for two numbers that each other agent says; here all are silent


def observation_size(num_agents: int) -> int:
    """Velocity, place, n landmarks, and n - 1 others with their words."""
    return 4 + 2 * num_agents + (2 + WORDS) * (num_agents - 1)


def observation_names(num_agents: int) -> tuple[str, ...]:
    """What each number of `observe` is."""
    others = range(1, num_agents)
    things = [
        *("velocity", "place"),
        *(f"landmark {number}" for number in range(num_agents)),
        *(f"other agent {number}" for number in others),
        *(f"silence of other agent {number}" for number in others),
    ]
    return tuple(f"{thing}, {axis}" for thing in things for axis in "xy")


def observe(state: SimpleSpreadState) -> Float[Array, "n o"]:
    """Velocity, place, landmarks and other agents relative to it, and the others' silence."""
    n, dtype = state.position.shape[0], state.position.dtype
    landmarks = state.landmarks[None] - state.position[:, None]
    agents = without_diagonal(state.position[None] - state.position[:, None])
    return jnp.concatenate(
        [
            state.velocity,
            state.position,
            landmarks.reshape(n, -1),
            agents.reshape(n, -1),
            jnp.zeros((n, WORDS * (n - 1)), dtype),
        ],
        axis=1,
    )


def without_diagonal(table: Float[Array, "n n k"]) -> Float[Array, "n n_minus_1 k"]:
    """The entries [i, j] with j other than i, in their order, without a gather.

    Written in one line and without the first, entries of the diagonal are n + 1 apart: they are the
    last column of a table of that width.
    """
    n, _, k = table.shape
    flat = table.reshape(n * n, k)[1:]
    return flat.reshape(n - 1, n + 1, k)[:, :-1].reshape(n, n - 1, k)
