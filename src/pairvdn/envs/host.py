"""Environments that are stepped in Python, one live copy after the other, not inside `jax.jit`."""

import abc
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Int32

from pairvdn.envs.base import Task


class HostStep(NamedTuple):
    """The result of a reset or a step: the fields of `TimeStep`, in NumPy."""

    observation: Float32[np.ndarray, "n o"]
    state: Float32[np.ndarray, " s"]
    mask: Bool[np.ndarray, "n a"]
    reward: Float[np.ndarray, ""]
    agent_rewards: Float32[np.ndarray, " n"]
    terminated: Bool[np.ndarray, ""]
    truncated: Bool[np.ndarray, ""]


class HostCopy(abc.ABC):
    """A live environment of another library; the rules of `Environment` hold for it.

    A step never resets, a masked action is replaced by an allowed one, and the seed of a reset
    decides everything that follows, as far as the environment keeps to it. Copies are never
    closed: closing a pygame environment shuts pygame down for all others.
    """

    @abc.abstractmethod
    def reset(self, seed: int) -> HostStep:
        """Start an episode."""

    @abc.abstractmethod
    def step(self, actions: Int32[np.ndarray, " n"]) -> HostStep:
        """Act once."""


class HostEnvironment(Task):
    """Describes an environment of which live copies can be made."""

    @abc.abstractmethod
    def copy(self) -> HostCopy:
        """A new live copy, not reset yet."""
