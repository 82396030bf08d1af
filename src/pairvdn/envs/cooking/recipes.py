"""Recipes, and the progress of cooking them.

A recipe is a tree: a delivery square with a plate with ingredients. A node is marked if its
children are and an object of its class is on the CELL of one that satisfied each child: cells
matter, not containment. So one dish serves every agent with its recipe, and extra food on the plate
is no problem.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32

from pairvdn.envs.cooking.kitchen import Slots
from pairvdn.envs.cooking.state import Objects, Progress, Tile


class Ingredient(NamedTuple):
    """A food in the state that a recipe needs."""

    food: str
    mashed: bool = False  # else chopped


def _chopped(*foods: str) -> tuple[Ingredient, ...]:
    return tuple(Ingredient(food) for food in foods)


# The original's `no_recipe` needs floor on a delivery square, which is impossible and pays nothing,
# like a food that does not exist.
NEVER = Ingredient("nothing")

RECIPES: dict[str, tuple[Ingredient, ...]] = {
    "TomatoSalad": _chopped("Tomato"),
    "TomatoLettuceSalad": _chopped("Tomato", "Lettuce"),
    "TomatoLettuceOnionSalad": _chopped("Tomato", "Lettuce", "Onion"),
    "CarrotBanana": _chopped("Carrot", "Banana"),
    "MashedCarrotBanana": (Ingredient("Carrot", True), Ingredient("Banana", True)),
    "CucumberOnion": _chopped("Cucumber", "Onion"),
    "AppleWatermelon": _chopped("Apple", "Watermelon"),
    "no_recipe": (NEVER,),
}


def progress(
    tiles: Int32[Array, " cells"], objects: Objects, recipes: tuple[str, ...], slots: Slots
) -> Progress:
    """Evaluate every agent's recipe: leaves, then the plate, then the delivery square."""
    wanted = sorted({ingredient for name in recipes for ingredient in RECIPES[name]})
    needs = jnp.array([[ingredient in RECIPES[name] for ingredient in wanted] for name in recipes])
    is_food = np.array([[food == name for name in slots.classes] for food, _ in wanted], bool)
    is_mashed = np.array([mashed for _, mashed in wanted])[:, None]
    state = jnp.where(is_mashed, objects.mashed[None, :], objects.chopped[None, :])
    ready = state & is_food.reshape(len(wanted), slots.count)  # [ingredient, slot]
    places = objects.cell[np.flatnonzero(slots.is_plate)]
    exists = places >= 0
    at_plate = (objects.cell[None, :] == places[:, None]) & exists[:, None]  # [plate, slot]
    together = (ready[:, None, :] & at_plate[None]).any(axis=2)  # [ingredient, plate]
    count = jnp.sum(needs[:, :, None] & together[None], axis=1, dtype=jnp.int32)  # [agent, plate]
    on_plate = count == needs.sum(axis=1)[:, None]
    delivered = (tiles[places] == Tile.DELIVERY) & exists
    complete, served = on_plate.any(axis=1), (on_plate & delivered[None]).any(axis=1)
    leaves = jnp.sum(needs & ready.any(axis=1)[None], axis=1, dtype=jnp.int32)
    nodes = leaves + complete.astype(jnp.int32) + served.astype(jnp.int32)
    return Progress(nodes, count.max(axis=1, initial=0), served)
