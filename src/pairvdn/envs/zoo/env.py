"""PettingZoo environments by our contract."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import equinox as eqx

from pairvdn.checks import require_one_of, whole_number
from pairvdn.envs.host import HostCopy, HostEnvironment
from pairvdn.envs.zoo.encode import Images
from pairvdn.envs.zoo.live import ZooCopy
from pairvdn.envs.zoo.sizes import Layout, layout


class Zoo(HostEnvironment):
    """A PettingZoo `ParallelEnv` with discrete actions, stepped in Python.

    Agents: `possible_agents`, in that order.

    Actions: as many as the agent with the most has; what an agent does not have is masked, and so
    is what `action_mask` forbids, in its info or beside its observation.

    Observation: laid out as one line of numbers, padded with zeros to the longest. Pictures (bytes)
    become numbers from 0 to 1, and if `image_size` (rows, columns) is given that small, each new
    pixel being the mean of those below it; `grey` takes the mean of their colours.

    State: `state()` likewise, or the observations one after the other if there is none.

    Reward: each agent's own, and of the team their sum, or with `team_reward="mean"` their mean
    over all possible agents, dead or alive.

    Dead agents, those that left or have not come yet: observation 0, only action 0, reward 0.

    End: when nobody is left. It is a truncation if anyone was truncated and not terminated in the
    last step; then the last observation, in which those are still seen, has a value. Else it is a
    termination. After `max_steps` every episode is truncated.
    """

    _name: str = eqx.field(static=True)
    make_env: Callable[[], Any] = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)
    _images: Images = eqx.field(static=True)
    _layout: Layout = eqx.field(static=True)
    team_reward: Literal["sum", "mean"] = eqx.field(static=True)

    def __init__(
        self,
        make_env: Callable[[], Any],
        *,
        name: str | None = None,
        max_steps: int | None = None,
        team_reward: str = "sum",
        image_size: Sequence[int] | None = None,
        grey: bool = True,
    ) -> None:
        require_one_of(("sum", "mean"), team_reward=team_reward)
        self._images = Images(_image_size(image_size), grey)
        env = make_env()
        self._layout = layout(env, self._images)
        self._name = name or str(getattr(env, "metadata", {}).get("name", type(env).__name__))
        self.make_env = make_env
        limit = self._layout.max_steps if max_steps is None else max_steps
        self._max_steps = whole_number("max_steps", limit, 1)
        self.team_reward = "sum" if team_reward == "sum" else "mean"

    @property
    def name(self) -> str:
        """How it is called."""
        return self._name

    @property
    def num_agents(self) -> int:
        """How many agents there may be at once."""
        return len(self._layout.agents)

    @property
    def num_actions(self) -> int:
        """The most actions that an agent has."""
        return self._layout.num_actions

    @property
    def observation_size(self) -> int:
        """The longest observation."""
        return self._layout.observation_size

    @property
    def state_size(self) -> int:
        """Length of the global state."""
        return self._layout.state_size

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated, if the environment does not end it before."""
        return self._max_steps

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents, in the order of the rows of an observation."""
        return self._layout.agents

    def copy(self) -> HostCopy:
        """A new live copy, not reset yet."""
        return ZooCopy(
            self.make_env(),
            self._layout,
            max_steps=self._max_steps,
            mean_reward=self.team_reward == "mean",
        )


def _image_size(given: Sequence[int] | None) -> tuple[int, int] | None:
    if given is None:
        return None
    if len(given) != 2:
        raise ValueError(f"image_size must be two numbers, rows and columns; it is {given}.")
    return whole_number("image_size", given[0], 1), whole_number("image_size", given[1], 1)
