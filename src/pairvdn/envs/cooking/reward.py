"""What the agents are paid."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.cooking.settings import Settings
from pairvdn.envs.cooking.types import Progress


def agent_rewards(before: Progress, after: Progress, settings: Settings) -> Float[Array, " n"]:
    """Nodes gained, ingredients plated, the recipe done or undone, and the price of a step.

    r_i = node_reward (nodes_t - nodes_{t-1}) + plating_reward (plated_t - plated_{t-1})
        + recipe_reward [newly done]
        + recipe_penalty [newly undone] + max_time_penalty / max_steps
    """
    nodes = (after.nodes - before.nodes).astype(jnp.float32) * settings.recipe_node_reward
    plated = (after.plated - before.plated).astype(jnp.float32) * settings.plating_reward
    won = (after.done & ~before.done).astype(jnp.float32) * settings.recipe_reward
    lost = (before.done & ~after.done).astype(jnp.float32) * settings.recipe_penalty
    return nodes + plated + won + lost + settings.max_time_penalty / settings.max_steps
