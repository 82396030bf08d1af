"""Exploration: schedules of epsilon, and random actions."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least, require_within
from pairvdn.types import PRNGKey


class Exploration(eqx.Module):
    """A schedule of epsilon, by epoch and environment.

    Attributes:
        answered: the other agents answer random actions: they take the best joint action that
            contains them, so that pairs explore together
    """

    answered: bool = eqx.field(default=False, kw_only=True, static=True)

    @abc.abstractmethod
    def epsilons(self, epoch: Int32[Array, ""], num_envs: int) -> Float[Array, " envs"]:
        """The probability that an agent acts at random, for every environment."""


class LinearEpsilon(Exploration):
    """The paper's schedule: linear from `start` to `end` over `epochs`, constant in each epoch."""

    start: float = 1.0
    end: float = 0.05
    epochs: int = 100  # epsilon stays at `end` from the last of these on

    def __check_init__(self) -> None:
        require_within(0, 1, start=self.start, end=self.end)
        require_at_least(1, epochs=self.epochs)

    def epsilons(self, epoch: Int32[Array, ""], num_envs: int) -> Float[Array, " envs"]:
        """ε = start + (end - start) min(1, epoch / (epochs - 1))."""
        progress = jnp.minimum(1.0, epoch.astype(jnp.float32) / max(1, self.epochs - 1))
        return jnp.full(num_envs, self.start + (self.end - self.start) * progress, jnp.float32)


class SpreadEpsilon(Exploration):
    """A different constant in each environment: ε_i = base^(1 + spread i / (E - 1)).

    Ape-X (Horgan et al., 2018): some environments always explore, others are nearly greedy, and
    there is no schedule to tune.

    Attributes:
        base: largest epsilon, that of the first environment
        spread: how much smaller the other epsilons are; 0: the same in all environments
    """

    base: float = 0.4
    spread: float = 6.0

    def __check_init__(self) -> None:
        require_within(0, 1, base=self.base)
        require_at_least(0, spread=self.spread)

    def epsilons(self, epoch: Int32[Array, ""], num_envs: int) -> Float[Array, " envs"]:
        """The same for every epoch."""
        fraction = jnp.arange(num_envs, dtype=jnp.float32) / max(1, num_envs - 1)
        return jnp.power(self.base, 1.0 + self.spread * fraction)


def random_actions(key: PRNGKey, mask: Bool[Array, "n a"]) -> Int32[Array, " n"]:
    """A uniformly drawn allowed action for each agent."""
    return _largest(jax.random.uniform(key, mask.shape), mask)


def explorers(
    key: PRNGKey, mask: Bool[Array, "n a"], epsilon: Float[Array, ""]
) -> tuple[Bool[Array, " n"], Int32[Array, " n"]]:
    """Which agents explore, independently with probability `epsilon`, and a random action each."""
    agents, choices = mask.shape
    # One draw decides both whether to explore and the action: random numbers compile slowly.
    draws = jax.random.uniform(key, (agents, 1 + choices))
    return draws[:, 0] < epsilon, _largest(draws[:, 1:], mask)


def _largest(draws: Float[Array, "n a"], mask: Bool[Array, "n a"]) -> Int32[Array, " n"]:
    """The allowed action with the largest uniform draw: all are equally likely."""
    return jnp.argmax(jnp.where(mask, draws, -1.0), axis=1).astype(jnp.int32)
