"""Action repeat: an agent step is one joint action, repeated for several environment steps.

`Totals.then` accumulates the rewards. Two loops use it: `repeat_action` steps parallel environments
on the device, `repeated` one live environment on the host.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Int32, PyTree

from pairvdn.envs import Environment, HostStep
from pairvdn.types import TimeStep

Account = TypeVar("Account")


class Totals(NamedTuple):
    """Sums over the environment steps of one agent step; arrays on the device, floats on the host.

    Rewards are discounted per environment step, so repeating actions longer does not change the
    value of a reward.
    """

    reward: Any  # Σ γ^i r_i, for learning
    discount: Any  # γ^steps
    undiscounted: Any  # Σ r_i, for returns
    steps: Any

    def then(self, reward: Any, discount: float) -> "Totals":
        """The sums after one more environment step."""
        return Totals(
            self.reward + self.discount * reward,
            self.discount * discount,
            self.undiscounted + reward,
            self.steps + 1,
        )


class Repeated(eqx.Module):
    """Parallel environments after an agent step; ended episodes have not been reset."""

    env_state: PyTree[Array]
    timestep: TimeStep
    totals: Totals
    ended: Bool[Array, " envs"]


class EnvStep(eqx.Module):
    """One environment step of all episodes; every leaf but `offset` has a leading episode axis.

    `running` marks the episodes that had not ended before; elsewhere `after` equals `before`.
    """

    offset: Int32[Array, ""]  # within the agent step
    running: Bool[Array, " envs"]
    before: PyTree[Array]  # state of the environments
    actions: Int32[Array, "envs n"]
    after: PyTree[Array]
    timestep: TimeStep  # after the step


def _keep_nothing(account: Any, _: EnvStep) -> Any:
    return account


def repeat_action(
    env: Environment[Any],
    keys: Array,
    env_state: PyTree[Array],
    timestep: TimeStep,
    actions: Int32[Array, "envs n"],
    *,
    discount: float = 1.0,
    ended: Bool[Array, " envs"] | None = None,
    account: Account | None = None,
    observe: Callable[[Any, EnvStep], Any] = _keep_nothing,
) -> tuple[Repeated, Any]:
    """Step once per row of `keys`; an episode that has ended no longer changes.

    `observe` folds every environment step into the account.
    """
    num_envs = len(actions)

    def step(
        carry: tuple[Repeated, Any], at: tuple[Int32[Array, ""], Array]
    ) -> tuple[tuple[Repeated, Any], None]:
        before, account = carry
        offset, step_keys = at
        env_state, timestep = jax.vmap(env.step)(step_keys, before.env_state, actions)
        after = Repeated(
            env_state,
            timestep,
            before.totals.then(timestep.reward, discount),
            timestep.terminated | timestep.truncated,
        )
        kept = jax.vmap(optax.tree.where)(before.ended, before, after)
        seen = EnvStep(offset, ~before.ended, before.env_state, actions, kept.env_state, timestep)
        return (kept, observe(account, seen)), None

    zeros, ones = jnp.zeros(num_envs), jnp.ones(num_envs)
    start = Repeated(
        env_state,
        timestep,
        Totals(zeros, ones, zeros, jnp.zeros(num_envs, jnp.int32)),
        jnp.zeros(num_envs, bool) if ended is None else ended,
    )
    offsets = jnp.arange(len(keys), dtype=jnp.int32)
    (done, account), _ = jax.lax.scan(step, (start, account), (offsets, keys))
    return done, account


Step = TypeVar("Step", TimeStep, HostStep)


def repeated(
    step: Callable[[], Step], times: int, *, discount: float = 1.0
) -> Iterator[tuple[Step, Totals]]:
    """Call `step` up to `times` times or until the episode ends; yield each step and the totals."""
    totals = Totals(0.0, 1.0, 0.0, 0)
    for _ in range(times):
        now = step()
        totals = totals.then(float(now.reward), discount)
        yield now, totals
        if now.terminated or now.truncated:
            return
