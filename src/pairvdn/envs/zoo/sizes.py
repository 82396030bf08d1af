"""What a PettingZoo environment looks like: read once, padded to what all agents have in common."""

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from pairvdn.envs.zoo.encode import Encoder, Images, array_encoder, observation_encoder
from pairvdn.envs.zoo.images import is_image

_UNLIMITED = 1_000  # steps of an episode, where the environment does not say


class Actions(NamedTuple):
    """The numbers of one agent's actions: `size` of them from `start` on."""

    size: int
    start: int


class Layout(NamedTuple):
    """Agents in a fixed order, how each one's observation is encoded, and its actions.

    Tuples only, so that an environment that holds one can be hashed.
    """

    agents: tuple[str, ...]
    encoders: tuple[Encoder, ...]
    actions: tuple[Actions, ...]
    state: Encoder | None  # None: the observations one after the other
    observation_size: int
    num_actions: int
    state_size: int
    max_steps: int


def layout(env: Any, images: Images) -> Layout:
    """Look at an environment; ValueError if it is not one that can be learned."""
    _require_parallel(env)
    agents = tuple(env.possible_agents)
    actions = tuple(_actions(agent, env.action_space(agent)) for agent in agents)
    encoders = tuple(
        observation_encoder(agent, env.observation_space(agent), images) for agent in agents
    )
    observation_size = max(one.size for one in encoders)
    seen, _ = env.reset(seed=0)
    _warn_if_blank(env, seen)
    state = _state_encoder(env, images)
    return Layout(
        agents=agents,
        encoders=encoders,
        actions=actions,
        state=state,
        observation_size=observation_size,
        num_actions=max(one.size for one in actions),
        state_size=len(agents) * observation_size if state is None else state.size,
        max_steps=_own_limit(env),
    )


def _require_parallel(env: Any) -> None:
    if not isinstance(env, ParallelEnv):
        raise ValueError(
            f"{type(env).__name__} is no PettingZoo ParallelEnv; an AECEnv becomes one with "
            "pettingzoo.utils.aec_to_parallel."
        )
    if not getattr(env, "possible_agents", None):
        raise ValueError(
            f"{type(env).__name__} does not list its possible_agents; who may ever act must be "
            "known from the start."
        )


def _actions(agent: str, space: Any) -> Actions:
    if isinstance(space, spaces.Discrete):
        return Actions(int(space.n), int(space.start))
    raise ValueError(
        f"{agent} acts in {space}, and only Discrete actions can be learned; many environments "
        "have an option for these, continuous=False or continuous_actions=False say."
    )


def _state_encoder(env: Any, images: Images) -> Encoder | None:
    """How `state()` is encoded; None if there is none. The environment has been reset."""
    try:
        state = env.state()
    except (NotImplementedError, AttributeError):
        return None
    return array_encoder(state.shape, state.dtype, images)


def _warn_if_blank(env: Any, seen: Mapping[str, Any]) -> None:
    """Some environments draw what agents see only if somebody else is to look, too."""
    pictures = [
        one
        for one in seen.values()
        if isinstance(one, np.ndarray) and is_image(one.shape, one.dtype)
    ]
    if pictures and all(one.min() == one.max() for one in pictures):
        warnings.warn(
            f"All agents of {env} see an empty picture at the start; perhaps it draws only with "
            "render_mode='rgb_array' (--env.render-mode rgb_array).",
            stacklevel=3,
        )


def _own_limit(env: Any) -> int:
    """Steps after which the environment itself ends an episode, as PettingZoo's own call it."""
    inside = env.unwrapped
    limits = (getattr(one, "max_cycles", None) for one in (inside, getattr(inside, "env", None)))
    return next((int(limit) for limit in limits if limit is not None), _UNLIMITED)
