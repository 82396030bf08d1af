"""Flags: a parser whose complaints are one line, and the fields of a config as flags."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from pairvdn.checks import hint
from pairvdn.config import Config
from pairvdn.config.components import KINDS, known_arguments
from pairvdn.config.config import RECORDS, TRAINING_ENV, record_arguments
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import Argument, describe, parse

_SHORT = {"checkpoints.keep": "--keep", "method.name": "--method"}
_UNITS = {
    "epochs": "length of the run",
    "seed": "where the random numbers start",
    "evaluation.every": "epochs between greedy evaluations",
    "evaluation.episodes": "episodes of each",
    "checkpoints.every": "least epochs between checkpoints",
    "checkpoints.seconds": "least seconds between checkpoints",
    "checkpoints.keep": "how many checkpoints are kept",
}


class Parser(argparse.ArgumentParser):
    """Raises `ConfigError` instead of printing and exiting; names the nearest flag."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"pairvdn {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def parse_all(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse; flags may be written with underscores as well."""
        namespace, rest = self.parse_known_args([_with_dashes(one) for one in arguments])
        if rest:
            flags = [one for one in rest if one.startswith("-")]
            if not flags:
                raise ConfigError(f"{rest[0]!r} is one argument too many; see {self.prog} --help.")
            name = flags[0].partition("=")[0]
            near = hint(name, self._option_string_actions, f"see {self.prog} --help.")
            raise ConfigError(f"There is no flag {name}; {near}")
        return namespace

    def error(self, message: str) -> NoReturn:
        """Complain in one line."""
        raise ConfigError(f"{message}; see {self.prog} --help.")


def _with_dashes(argument: str) -> str:
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    return name.replace("_", "-") + equals + value


def add_config_flags(parser: Parser, config: Config, arguments: Sequence[str]) -> None:
    """A flag for each field of this config, with its present value in the help.

    A component that leaves open which arguments it has takes those that are given, too.
    """
    plain = config.to_dict()
    general = parser.add_argument_group("run")
    for key, argument in record_arguments("").items():
        _add(general, key, argument, plain[key])
    for section in RECORDS:
        group = parser.add_argument_group(section)
        for key, argument in record_arguments(section).items():
            _add(group, f"{section}.{key}", argument, plain[section][key])
    for kind in KINDS:
        name = plain[kind]["name"]
        group = parser.add_argument_group(f"{kind} {name}")
        _add(group, f"{kind}.name", Argument("name", str), name)
        others = [*plain[kind], *_keys_of(kind, arguments)]
        others = [key for key in dict.fromkeys(others) if key != "name"]
        for key, argument in known_arguments(kind, name, others).items():
            _add(group, f"{kind}.{key}", argument, plain[kind].get(key, "not set"))
    # Any argument of the environment; the help shows those that the config has.
    group = parser.add_argument_group(f"{TRAINING_ENV}: the environment while training")
    training = [*plain[TRAINING_ENV], *_keys_of(TRAINING_ENV, arguments)]
    for key, argument in _training_env_arguments(config, training).items():
        _add(group, f"{TRAINING_ENV}.{key}", argument, plain[TRAINING_ENV].get(key, "not set"))


def _training_env_arguments(config: Config, keys: Sequence[str]) -> dict[str, Argument]:
    known = known_arguments("env", config.env.name, keys)
    return {key: known[key] for key in dict.fromkeys(keys) if key in known}


def _keys_of(kind: str, arguments: Sequence[str]) -> list[str]:
    """The fields of a component that flags among the arguments name."""
    flags = [_with_dashes(one).partition("=")[0] for one in arguments]
    prefix = f"--{kind}."
    return [
        flag.removeprefix(prefix).replace("-", "_") for flag in flags if flag.startswith(prefix)
    ]


def _add(group: Any, path: str, argument: Argument, value: Any) -> None:
    names = [f"--{path.replace('_', '-')}"] + ([_SHORT[path]] if path in _SHORT else [])
    shown = ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
    about = f"{_UNITS[path]}; " if path in _UNITS else ""
    group.add_argument(
        *names,
        dest=path,
        metavar="X",
        default=argparse.SUPPRESS,
        help=f"{about}{describe(argument.kind)} (now {shown})".replace("%", "%%"),
        # A flag alone says true.
        **({"nargs": "?", "const": "true"} if argument.kind is bool else {}),
    )


def changed(config: Config, namespace: argparse.Namespace) -> Config:
    """The config with what the flags say."""
    given = {key: text for key, text in vars(namespace).items() if _is_field(key)}
    changes: dict[str, Any] = {}
    for path, text in given.items():
        section, _, key = path.rpartition(".")
        if section == TRAINING_ENV:
            kind = _training_env_arguments(config, [key])[key].kind
        elif key == "name" or section not in KINDS:
            known = record_arguments(section) if section not in KINDS else {}
            kind = known[key].kind if key in known else str
        else:
            name = given.get(f"{section}.name", getattr(config, section).name)
            kind = known_arguments(section, name, [key])[key].kind
        changes[path] = parse(f"--{path.replace('_', '-')}", kind, text)
    return config.replace(changes)


def _is_field(key: str) -> bool:
    return "." in key or key in record_arguments("")


def renamed(config: Config, arguments: Sequence[str]) -> Config:
    """The config with the components that `--env.name` and the like ask for, nothing else.

    Which flags there are depends on the components, so these must be known first.
    """
    names: dict[str, Any] = {}
    for place, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        long = next((f"--{path}" for path, short in _SHORT.items() if short == flag), flag)
        kind = long.removeprefix("--").removesuffix(".name")
        if long == f"--{kind}.name" and kind in KINDS:
            following = arguments[place + 1 : place + 2]
            names[f"{kind}.name"] = value if equals else "".join(following)
    return config.replace(names)


def positive(flag: str, text: str) -> int:
    """A whole number of at least 1 that stands after a flag."""
    number: int = parse(flag, int, text)
    if number < 1:
        raise ConfigError(f"{flag} must be at least 1, not {number}.")
    return number
