"""JaxMARL in both directions: its environments under our contract, ours with its interface."""

from typing import TYPE_CHECKING, Any

from pairvdn.envs.adapters.jaxmarl.adapter import JaxMARLState, from_jaxmarl
from pairvdn.envs.adapters.jaxmarl.original import library
from pairvdn.envs.base import Environment

if TYPE_CHECKING:
    from pairvdn.envs.adapters.jaxmarl.export import JaxMARLEnv


def to_jaxmarl(env: Environment[Any]) -> "JaxMARLEnv":
    """The environment `env` with JaxMARL's interface; see `JaxMARLEnv`."""
    library()  # if JaxMARL is missing, ImportError with the command to install it
    from pairvdn.envs.adapters.jaxmarl.export import JaxMARLEnv

    return JaxMARLEnv(env)


__all__ = ["JaxMARLState", "from_jaxmarl", "to_jaxmarl"]
