"""Rules about episodes: starts, rewards, masks and ends."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from pairvdn.envs.base import HasTeamReward
from pairvdn.envs.check.subject import Outcome, Subject, Transition, at, close, identical

_MASK_SAMPLES = 8


def reset(subject: Subject[Any]) -> Iterator[str]:
    """At a reset both flags are False, and the rewards 0."""
    start = subject.start.time_step
    if start.terminated or start.truncated:
        yield "terminated and truncated must be False at a reset"
    if start.reward != 0 or (start.agent_rewards != 0).any():
        yield "reward and agent_rewards must be 0 at a reset"


def finite(subject: Subject[Any]) -> Iterator[str]:
    """Observations, states and rewards are finite up to the end of an episode."""
    for steps in [subject.start.time_step, *subject.within()]:
        for field in ("observation", "state", "reward", "agent_rewards"):
            if not np.isfinite(getattr(steps, field)).all():
                yield f"{field} must be finite"


def team_reward(subject: Subject[Any]) -> Iterator[str]:
    """`reward` is the sum of `agent_rewards`, or their mean if declared so."""
    env = subject.env
    rule = env.team_reward if isinstance(env, HasTeamReward) else "sum"
    parts = {"sum": 1, "mean": env.num_agents}
    if rule not in parts:
        yield f"team_reward must be 'sum' or 'mean', not {rule!r}"
        return
    for steps in subject.within():
        if not close(np.sum(steps.agent_rewards, axis=-1) / parts[rule], steps.reward):
            yield f"reward must be the {rule} of agent_rewards"


def truncation(subject: Subject[Any]) -> Iterator[str]:
    """An episode is truncated after `max_steps` steps and not before, unless it terminated."""
    for steps, length in zip(subject.within(), subject.lengths, strict=True):
        if steps.truncated[-1] and length < subject.env.max_steps:
            yield f"truncated after {length} steps, before max_steps={subject.env.max_steps}"
        if length > subject.env.max_steps:
            yield f"not truncated after max_steps={subject.env.max_steps} steps"


def mask(subject: Subject[Any]) -> Iterator[str]:
    """Every agent has an allowed action, and its masked actions all act as the no-op."""
    masks = [subject.start.time_step.mask, *(steps.mask for steps in subject.within())]
    if not all(np.asarray(allowed).any(axis=-1).all() for allowed in masks):
        yield "mask must allow every agent at least one action, also at the end of an episode"
    for step, agent, forbidden in itertools.islice(_forbidden(subject), _MASK_SAMPLES):
        results = [
            subject.step(step.key, step.state, step.actions.at[agent].set(int(action)))
            for action in forbidden
        ]
        if not all(identical(results[0], other) for other in results[1:]):
            yield (
                f"masked actions must act as the no-op, but those of agent {agent}, "
                f"{forbidden.tolist()}, have different effects"
            )


def never_resets(subject: Subject[Any]) -> Iterator[str]:
    """`step` does not start a new episode where one ended: its caller does."""
    limit = subject.env.max_steps
    for episode, length in zip(subject.episodes, subject.lengths, strict=True):
        truncated = np.asarray(episode.outcome.time_step.truncated)
        later = np.flatnonzero(truncated[length:])
        # Steps keep counting after the end, so a restarted clock reveals a reset. In episodes of
        # one step the two look alike.
        if limit > 1 and later.size and later[0] + 1 == limit:
            yield f"step must not reset: {limit} steps after an end it truncates again"
    if _is_a_reset(subject, lambda outcome: outcome.state):
        yield "step must not reset: at an end it returns the state of a new episode"


def final_observation(subject: Subject[Any]) -> Iterator[str]:
    """The last step returns the end of the episode, not the start of the next."""
    starts = [subject.reset(last.key)[1].observation for last in subject.last_steps]
    # If all episodes start alike, one may end as it started.
    if not identical(starts[0], starts[1]) and _is_a_reset(
        subject, lambda outcome: (outcome.time_step.observation, outcome.time_step.state)
    ):
        yield "the last step must return the final observation, not the first of a new episode"


def _forbidden(subject: Subject[Any]) -> Iterator[tuple[Transition, int, np.ndarray]]:
    """Steps in which an agent has two or more masked actions, with that agent and those actions."""
    for episode, length in zip(subject.episodes, subject.lengths, strict=True):
        masked = ~np.asarray(episode.mask[:length])
        for time, agent in np.argwhere(masked.sum(axis=-1) >= 2):
            yield at(episode, int(time)), int(agent), np.flatnonzero(masked[time, agent])


def _is_a_reset(subject: Subject[Any], part: Callable[[Outcome], Any]) -> bool:
    """Whether this part of every last step equals a reset with its key or a split of it."""
    episodes = zip(subject.episodes, subject.lengths, strict=True)
    # If steps before the end look like resets too, the part proves nothing.
    usual = [at(episode, 0) for episode, length in episodes if length > 1]

    def resets(step: Transition, derive: Callable[[Any], Any]) -> bool:
        return identical(part(step.outcome), part(Outcome(*subject.reset(derive(step.key)))))

    derivations = [
        lambda key: key,
        lambda key: jax.random.split(key)[0],
        lambda key: jax.random.split(key)[1],
    ]
    return bool(usual) and any(
        all(resets(step, derive) for step in subject.last_steps)
        and not any(resets(step, derive) for step in usual)
        for derive in derivations
    )
