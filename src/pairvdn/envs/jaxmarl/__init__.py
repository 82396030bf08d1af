"""JaxMARL, both ways: its environments under our contract, and ours with its interface."""

from typing import TYPE_CHECKING, Any

from pairvdn.envs.base import Environment
from pairvdn.envs.jaxmarl.adapter import JaxMARLState, from_jaxmarl
from pairvdn.envs.jaxmarl.library import library

if TYPE_CHECKING:
    from pairvdn.envs.jaxmarl.export import JaxMARLEnv


def to_jaxmarl(env: Environment[Any]) -> "JaxMARLEnv":
    """The environment `env` with JaxMARL's interface; see `JaxMARLEnv`."""
    library()  # says what to install if it is missing, and imports it without its chatter
    from pairvdn.envs.jaxmarl.export import JaxMARLEnv

    return JaxMARLEnv(env)


__all__ = ["JaxMARLState", "from_jaxmarl", "to_jaxmarl"]
