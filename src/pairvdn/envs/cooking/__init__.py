"""Cooking: agents chop, blend, plate and deliver dishes together, after CookingZoo."""

from pairvdn.envs.cooking.env import Cooking, cooking

__all__ = ["Cooking", "cooking"]
