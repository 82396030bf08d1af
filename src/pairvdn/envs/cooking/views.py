"""The ways in which agents may see a kitchen, by name."""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array, Float

from pairvdn.envs.cooking.kitchen import Kitchen
from pairvdn.envs.cooking.observe import observation_names, observe
from pairvdn.envs.cooking.reach import reach, reach_names
from pairvdn.envs.cooking.types import CookingState


class View(NamedTuple):
    """What each number is, and the numbers."""

    names: Callable[[Kitchen], tuple[str, ...]]
    observe: Callable[[CookingState, Kitchen], Float[Array, "n o"]]


VIEWS = {
    "original": View(
        lambda kitchen: observation_names(kitchen.meta),
        lambda state, kitchen: observe(state, kitchen)[0],
    ),
    "reach": View(reach_names, reach),
}
