"""PettingZoo in both directions: its environments to train in, ours as a `ParallelEnv`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pairvdn.envs.base import Environment, TeamReward

if TYPE_CHECKING:
    from pairvdn.envs.adapters.pettingzoo.env import FromPettingZoo
    from pairvdn.envs.adapters.pettingzoo.export import PettingZooEnv

RenderMode = Literal["rgb_array", "human"]


def to_pettingzoo(env: Environment[Any], render_mode: RenderMode | None = None) -> "PettingZooEnv":
    """The environment `env` with PettingZoo's interface; see `PettingZooEnv`."""
    try:
        from pairvdn.envs.adapters.pettingzoo.export import PettingZooEnv
    except ImportError as error:
        raise _missing("to_pettingzoo", error) from error
    return PettingZooEnv(env, render_mode)


def from_pettingzoo(
    make_env: Callable[[], Any],
    *,
    name: str | None = None,
    max_steps: int | None = None,
    team_reward: TeamReward = "sum",
    image_size: Sequence[int] | None = None,
    grey: bool = True,
) -> "FromPettingZoo":
    """A PettingZoo environment to train in; see `FromPettingZoo`.

    `make_env` makes a new `ParallelEnv` at each call: training runs several in parallel.
    """
    try:
        from pairvdn.envs.adapters.pettingzoo.env import FromPettingZoo
    except ImportError as error:
        raise _missing("from_pettingzoo", error) from error
    return FromPettingZoo(
        make_env,
        name=name,
        max_steps=max_steps,
        team_reward=team_reward,
        image_size=image_size,
        grey=grey,
    )


def _missing(function: str, error: ImportError) -> ImportError:
    return ImportError(
        f"{function} needs a package that is not installed ({error}); "
        "get it with: pip install 'pairvdn[view]'"
    )
