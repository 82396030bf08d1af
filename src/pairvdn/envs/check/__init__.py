"""`check_env`: does an environment follow the contract of `pairvdn.envs.base`?

A rule is a generator of complaints: it yields a sentence for each violation.
"""

from collections.abc import Sequence
from typing import Any

from pairvdn.envs.base import Environment
from pairvdn.envs.check import declared, episode, functions
from pairvdn.envs.check.subject import Subject

# Later rules rely on earlier ones.
RULES = {
    "sizes": declared.sizes,
    "names": declared.names,
    "hashable": declared.hashable,
    "traceable": declared.traceable,
    "shapes and dtypes": declared.shapes,
    "actions": functions.actions,
    "state structure": declared.carry,
    "reset": episode.reset,
    "finite": episode.finite,
    "deterministic": functions.deterministic,
    "keys": functions.keys,
    "jit": functions.jit,
    "vmap": functions.vmap,
    "team reward": episode.team_reward,
    "truncation": episode.truncation,
    "mask": episode.mask,
    "step never resets": episode.never_resets,
    "final observation": episode.final_observation,
    "scene": declared.scene,
    "positions": declared.positions,
}


class ContractError(Exception):
    """An environment breaks a rule of the contract; `rule` is its name in `RULES`."""

    def __init__(self, env_name: str, rule: str, complaint: str) -> None:
        super().__init__(f"{env_name} breaks the rule {rule!r}: {complaint}.")
        self.rule = rule


def check_env(env: Environment[Any]) -> None:
    """Play a few episodes of random actions and raise `ContractError` if a rule is broken.

    Takes up to a minute for an environment that is slow to compile. Only outward behaviour is
    checked: a single masked action looks like a no-op, and a reset in `step` goes unnoticed if
    episodes have one step.
    """
    _require(env, tuple(RULES))


def require_shapes(env: Environment[Any]) -> None:
    """Raise `ContractError` if `reset` or `step` cannot be traced or return wrong shapes."""
    _require(env, ("sizes", "traceable", "shapes and dtypes", "state structure"))


def _require(env: Environment[Any], rules: Sequence[str]) -> None:
    subject = Subject(env)
    for name in rules:
        rule = RULES[name]
        try:
            complaint = next(rule(subject), None)
        except Exception as error:  # user code may raise anything
            complaint = f"{type(error).__name__}: {error}"
            raise ContractError(env.name, name, complaint) from error
        if complaint is not None:
            raise ContractError(env.name, name, complaint)
