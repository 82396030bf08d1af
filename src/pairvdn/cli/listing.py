"""`pairvdn list`: the names that other commands accept, one line each."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pairvdn.checks import hint
from pairvdn.cli.flags import Parser
from pairvdn.config import registry
from pairvdn.config.errors import ConfigError
from pairvdn.config.presets import presets_of, recipes_of
from pairvdn.config.registry import KINDS
from pairvdn.envs import external
from pairvdn.runs.folder import PRETRAINED, pretrained_names, read_config, run_path

ABOUT = """List all names, the names of a kind (`pairvdn list methods`), or an environment with all
its presets (`pairvdn list box-jump`). METHOD stands for the name of a method."""
Lines = Iterator[tuple[str, str]]


def main(arguments: Sequence[str]) -> int:
    """List environments, methods, presets, shipped runs and more."""
    parser = Parser("list", ABOUT)
    kinds = ", ".join(_LISTS)
    parser.add_argument("what", nargs="?", help=f"{kinds}, or an environment")
    what = parser.parse_all(arguments).what
    if what in _LISTS:
        _print(_LISTS[what]())
    elif what is None:
        for kind, lines in _LISTS.items():
            print(f"{kind}:")
            _print(lines())
    else:
        _print_environment(what)
    return 0


def _print_environment(name: str) -> None:
    """The summary, presets and shipped run of an environment."""
    known = KINDS["env"].names()
    if name not in known:
        raise ConfigError(f"There is no list {name!r}; {hint(name, [*_LISTS, *known])}")
    _print([(name, _summary("env", name)), *presets_of(name).items()])
    _print(line for line in _pretrained() if line[0] == PRETRAINED + name)


def _print(lines: Any) -> None:
    for name, about in lines:
        print(f"  {name:<32} {about}".rstrip())


def _named(kind: str) -> Callable[[], Lines]:
    return lambda: ((name, _summary(kind, name)) for name in KINDS[kind].names())


def _environments() -> Lines:
    yield from _named("env")()
    yield from ((library.form, library.about) for library in external.LIBRARIES.values())


def _presets() -> Lines:
    for env in KINDS["env"].names():
        yield from ((form, recipe.about) for form, recipe in recipes_of(env).items())


def _pretrained() -> Lines:
    for name in pretrained_names():
        config = read_config(run_path(PRETRAINED + name))
        yield PRETRAINED + name, f"{config.env.name}, {config.method.name}"


_LISTS: dict[str, Callable[[], Lines]] = {
    "environments": _environments,
    "methods": _named("method"),
    "presets": _presets,
    "pretrained": _pretrained,
    "schedules": _named("learner"),
    "optimisers": _named("optimiser"),
    "explorations": _named("exploration"),
}


def _summary(kind: str, name: str) -> str:
    documented = registry.constructor(kind, name)
    return str(documented.__doc__ or "").strip().partition("\n")[0]
