"""Which keys stand for which actions, by the actions' names."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Names of keys are pygame's.
KEYS_OF: Mapping[str, tuple[str, ...]] = {
    "left": ("left", "a"),
    "right": ("right", "d"),
    "up": ("up", "w"),
    "down": ("down", "s"),
    "jump": ("up", "w", "space"),
    "catch": ("space",),
    "send": ("space",),
}
# What an agent does whose person presses nothing, or this key where time stands still till then.
RESTING = ("nothing", "stay", "idle")
REST_KEY = "."
MOST_DIGITS = 9


class Keyboard(NamedTuple):
    """Keys of the actions, and the action that is taken without a key, if there is one."""

    actions: Mapping[str, int]
    resting: int | None

    def action(self, keys: Sequence[str]) -> int | None:
        """The action of the last of these keys that has one."""
        return next((self.actions[key] for key in reversed(keys) if key in self.actions), None)


def keyboard(action_names: Sequence[str]) -> Keyboard:
    """Keys for every action: by its name, or else a digit: its name, or its place, from 1."""
    resting = next((k for k, name in enumerate(action_names) if name in RESTING), None)
    actions: dict[str, int] = {}
    for action, name in enumerate(action_names):
        own = (REST_KEY,) if action == resting else KEYS_OF.get(name, ())
        place = (str(action + 1),) if action < MOST_DIGITS else ()
        for key in own or ((name,) if re.fullmatch("[0-9]", name) else place):
            actions.setdefault(key, action)
    return Keyboard(actions, resting)


def legend(action_names: Sequence[str], keys: Keyboard, *, in_turns: bool) -> list[str]:
    """What every key does, in a few words each."""
    parts = []
    for action, name in enumerate(action_names):
        of_it = [key for key, one in keys.actions.items() if one == action]
        if action == keys.resting and not in_turns:
            of_it = ["no key"]
        if of_it:
            parts.append(f"{name}: {' or '.join(of_it)}")
    return [*parts, "again: r", "quit: q"]
