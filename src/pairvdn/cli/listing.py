"""`pairvdn list`: what there is, one line each."""

from collections.abc import Callable, Sequence
from typing import Any

from pairvdn import envs, values
from pairvdn.cli.flags import Parser
from pairvdn.config import load_preset, preset_names
from pairvdn.envs import external
from pairvdn.runs.folder import read_config
from pairvdn.runs.pretrained import PREFIX, pretrained_names, run_path


def main(arguments: Sequence[str]) -> int:
    """List environments, methods, presets and trained teams."""
    parser = Parser("list", "List environments, methods, presets and trained teams, one line each.")
    parser.add_argument("what", nargs="?", choices=sorted(_LISTS), help="only these")
    given = parser.parse_all(arguments)
    chosen = [given.what] if given.what else list(_LISTS)
    for what in chosen:
        if given.what is None:
            print(f"{what}:")
        for name, about in _LISTS[what]():
            print(f"  {name:<30} {about}".rstrip())
    return 0


def _environments() -> list[tuple[str, str]]:
    ours = [(name, _summary(envs.constructor(name))) for name in envs.names()]
    return ours + [(one.form, one.about) for one in external.LIBRARIES.values()]


def _methods() -> list[tuple[str, str]]:
    return [(name, _summary(values.constructor(name))) for name in values.names()]


def _presets() -> list[tuple[str, str]]:
    configs = [(name, load_preset(name)) for name in preset_names()]
    return [(name, f"{config.epochs} epochs, {config.learner.name}") for name, config in configs]


def _pretrained() -> list[tuple[str, str]]:
    found = {PREFIX + name: read_config(run_path(PREFIX + name)) for name in pretrained_names()}
    return [(name, f"{one.env.name}, {one.method.name}") for name, one in found.items()]


_LISTS: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "environments": _environments,
    "methods": _methods,
    "presets": _presets,
    "pretrained": _pretrained,
}


def _summary(documented: Any) -> str:
    return str(documented.__doc__ or "").strip().partition("\n")[0]
