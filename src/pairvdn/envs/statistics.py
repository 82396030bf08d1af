"""Returns and lengths of episodes, counted along a stream of steps."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.envs.auto_reset import AutoResetTimeStep
from pairvdn.types import TimeStep


class EpisodeStatistics(eqx.Module):
    """What is known of the episode that runs and of the last one that ended.

    Carry it through a scan: `statistics = statistics.after(time_step)` at each step. The return is
    not discounted. `last_return` and `last_length` are 0 until `num_finished` is positive.
    """

    running_return: Float[Array, ""]
    running_length: Int32[Array, ""]
    last_return: Float[Array, ""]
    last_length: Int32[Array, ""]
    num_finished: Int32[Array, ""]

    @staticmethod
    def start() -> "EpisodeStatistics":
        """Before the first step."""
        number, count = jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32)
        return EpisodeStatistics(number, count, number, count, count)

    def after(self, time_step: TimeStep | AutoResetTimeStep) -> "EpisodeStatistics":
        """With one more step counted; a reset is not a step."""
        ended = time_step.terminated | time_step.truncated
        total = self.running_return + time_step.reward
        length = self.running_length + 1
        return EpisodeStatistics(
            running_return=jnp.where(ended, 0.0, total),
            running_length=jnp.where(ended, 0, length),
            last_return=jnp.where(ended, total, self.last_return),
            last_length=jnp.where(ended, length, self.last_length),
            num_finished=self.num_finished + ended.astype(jnp.int32),
        )
