"""The origin of a checkpoint: the settings and the software that it was made with.

Resuming promises the bits of an uninterrupted run, which holds only if neither has changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.config.toml import flat, read_toml
from pairvdn.runs.versions import PACKAGES, software

# Sections and keys on which the numbers of an evaluation depend.
_OF_A_VALUE = ("env.", "method.", "learner.action_repeat")
_NOT_SET = "not set"


def origin_of(config: Config, seed: int) -> dict[str, Any]:
    """Facts for the manifest of a checkpoint of this seed."""
    return {"config": config.replace({"seed": seed}).to_toml(), "software": software()}


def changed_settings(facts: Mapping[str, Any], config: Config, seed: int) -> list[str]:
    """A phrase for each setting that differs from that of a checkpoint.

    More epochs are allowed, and so are other settings of checkpoints: no result depends on them.
    """
    return [
        _phrase(key, before, now)
        for key, (before, now) in _changes(facts, config, seed).items()
        if key != "epochs" or not _is_more(before, now)
    ]


def extended_from(facts: Mapping[str, Any], config: Config, seed: int) -> int | None:
    """The number of epochs of a checkpoint's config, if the config now has more."""
    before, now = _changes(facts, config, seed).get("epochs", (0, 0))
    return int(before) if _is_more(before, now) else None


def changed_for_a_value(facts: Mapping[str, Any], config: Config) -> list[str]:
    """Phrases for the changed settings that matter when a checkpoint's value plays episodes."""
    changes = _changes(facts, config, config.seed)
    return [_phrase(key, *both) for key, both in changes.items() if key.startswith(_OF_A_VALUE)]


def _changes(facts: Mapping[str, Any], config: Config, seed: int) -> dict[str, tuple[Any, Any]]:
    """Settings whose values, then and now, differ."""
    before = _settings(facts.get("config"))
    if before is None:
        return {}
    now = flat(read_toml(config.replace({"seed": seed}).to_toml(), "the config"))
    return {
        key: (before.get(key, _NOT_SET), now.get(key, _NOT_SET))
        for key in dict.fromkeys([*before, *now])
        if before.get(key) != now.get(key) and not key.startswith("checkpoints.")
    }


def _settings(text: Any) -> dict[str, Any] | None:
    """The settings in a manifest, as data: nothing is imported; None if there are none."""
    if not isinstance(text, str):
        return None
    try:
        return flat(read_toml(text, "the config of the checkpoint"))
    except ConfigError:
        return None


def _phrase(key: str, before: Any, now: Any) -> str:
    return f"{key} was {before} and is {now}"


def _is_more(before: Any, now: Any) -> bool:
    return isinstance(before, int) and isinstance(now, int) and now > before > 0


def changed_software(facts: Mapping[str, Any], names: Sequence[str] = PACKAGES) -> list[str]:
    """A phrase for each of these packages whose version differs from that of a checkpoint."""
    before, now = facts.get("software"), software()
    if not isinstance(before, Mapping):
        return []
    return [
        f"{name} was {before.get(name)} and is {now.get(name)}"
        for name in names
        if before.get(name) != now.get(name)
    ]


def spans_the_run(config: Config) -> list[str]:
    """The schedules that depend on the number of epochs: the same epoch has other numbers."""
    exploration, optimiser = config.exploration, config.optimiser
    spanning = []
    # A whole number is a length of its own; none and a share of the run are not.
    own_length = isinstance(exploration.arguments.get("epochs"), int)
    if exploration.asks_for("num_epochs") and not own_length:
        spanning.append("exploration")
    if optimiser.asks_for("num_updates") and optimiser.arguments.get("decay_to") != 1:
        spanning.append("learning rate")
    return spanning
