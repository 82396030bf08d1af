"""Sizes and encodings of a PettingZoo environment: read once, padded to fit all agents."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from pairvdn.envs.adapters.pettingzoo.images import Shrink, is_image
from pairvdn.types import EnvSpec

_MASK = "action_mask"  # as PettingZoo's games call it, in observations or in infos
_UNLIMITED = 1_000  # steps of an episode, where the environment does not say


class Encoder(NamedTuple):
    """Turns an observation or a state into `size` numbers."""

    size: int
    encode: Callable[[Any], np.ndarray]


class Images(NamedTuple):
    """How images are shrunk: to `size`, (rows, columns); None keeps theirs."""

    size: tuple[int, int] | None
    grey: bool


def observation_encoder(agent: str, space: Any, images: Images) -> Encoder:
    """For the observations of `agent`; a mask beside an observation is not part of it."""
    if isinstance(space, spaces.Dict) and {"observation", _MASK} == set(space.spaces):
        inner = observation_encoder(agent, space["observation"], images)
        return Encoder(inner.size, lambda seen: inner.encode(seen["observation"]))
    if isinstance(space, spaces.Box):
        return array_encoder(space.shape, space.dtype, images)
    try:
        size = spaces.flatdim(space)
    except (NotImplementedError, ValueError):
        raise ValueError(
            f"{agent} observes {space}, which has no fixed size; only observations that gymnasium "
            "can flatten to a fixed number of numbers can be learned from."
        ) from None
    return Encoder(
        size, lambda seen: np.asarray(spaces.flatten(space, seen), np.float32).reshape(-1)
    )


def array_encoder(shape: tuple[int, ...], dtype: Any, images: Images) -> Encoder:
    """For arrays of this shape: images are shrunk and scaled, others only flattened."""
    if is_image(shape, np.dtype(dtype)):
        shrink = Shrink(shape, images.size, grey=images.grey)
        return Encoder(shrink.size, shrink)
    return Encoder(int(np.prod(shape)), lambda seen: np.asarray(seen, np.float32).reshape(-1))


def allowed_actions(seen: Any, info: Any, count: int) -> np.ndarray:
    """Which of its `count` actions an agent may choose: by its observation or its info, else all.

    An agent that has no allowed action, because others have the turn, may choose its first one.
    """
    given = seen.get(_MASK) if isinstance(seen, dict) else None
    given = info.get(_MASK) if given is None and isinstance(info, dict) else given
    mask = np.ones(count, bool) if given is None else np.asarray(given).astype(bool)
    return mask if mask.any() else np.arange(count) == 0


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
    spec: EnvSpec
    max_steps: int


def layout(env: Any, images: Images) -> Layout:
    """Read the sizes of an environment; ValueError if it cannot be learned."""
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
        spec=EnvSpec(
            num_agents=len(agents),
            num_actions=max(one.size for one in actions),
            observation_size=observation_size,
            state_size=len(agents) * observation_size if state is None else state.size,
        ),
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
            f"{type(env).__name__} does not list its possible_agents; all agents must be "
            "known from the start."
        )


def _actions(agent: str, space: Any) -> Actions:
    if isinstance(space, spaces.Discrete):
        return Actions(int(space.n), int(space.start))
    raise ValueError(
        f"{agent} acts in {space}, and only Discrete actions can be learned; many environments "
        "have an option for these, such as continuous=False or continuous_actions=False."
    )


def _state_encoder(env: Any, images: Images) -> Encoder | None:
    """How `state()` is encoded; None if there is none. The environment has been reset."""
    try:
        state = env.state()
    except (NotImplementedError, AttributeError):
        return None
    return array_encoder(state.shape, state.dtype, images)


def _warn_if_blank(env: Any, seen: Mapping[str, Any]) -> None:
    """Some environments draw the agents' images only if they also render for people."""
    images_seen = [
        one
        for one in seen.values()
        if isinstance(one, np.ndarray) and is_image(one.shape, one.dtype)
    ]
    if images_seen and all(one.min() == one.max() for one in images_seen):
        warnings.warn(
            f"All agents of {env} see an empty image at the start; perhaps it draws only with "
            "render_mode='rgb_array' (--env.render-mode rgb_array).",
            stacklevel=3,
        )


def _own_limit(env: Any) -> int:
    """Steps after which the environment ends an episode itself: PettingZoo's `max_cycles`."""
    inside = env.unwrapped
    limits = (getattr(one, "max_cycles", None) for one in (inside, getattr(inside, "env", None)))
    return next((int(limit) for limit in limits if limit is not None), _UNLIMITED)
