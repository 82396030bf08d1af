"""Environments for everyone outside JAX: as PettingZoo's `ParallelEnv`."""

from typing import TYPE_CHECKING, Any, Literal

from pairvdn.envs.base import Environment

if TYPE_CHECKING:
    from pairvdn.envs.parallel_env import PettingZooEnv

RenderMode = Literal["rgb_array", "human"]


def to_pettingzoo(env: Environment[Any], render_mode: RenderMode | None = None) -> "PettingZooEnv":
    """The environment `env` with PettingZoo's interface; see `PettingZooEnv`."""
    try:
        from pairvdn.envs.parallel_env import PettingZooEnv
    except ImportError as error:
        raise ImportError(
            f"to_pettingzoo needs a package that is not installed ({error}); "
            "get it with: pip install 'pairvdn[view]'"
        ) from error
    return PettingZooEnv(env, render_mode)
