"""Cooperative multi-agent Q-learning with pair-wise joint values, maximised exactly."""

from importlib.metadata import version

__version__ = version("pairvdn")
