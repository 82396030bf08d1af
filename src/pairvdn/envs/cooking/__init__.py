"""Cooking: agents that chop, blend, plate and deliver dishes together, after CookingZoo."""

from pairvdn.envs.cooking.env import Cooking, cooking
from pairvdn.envs.cooking.replay import from_layout

__all__ = ["Cooking", "cooking", "from_layout"]
