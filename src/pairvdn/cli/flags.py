"""Flags: the parser, flags that several commands share, and the fields of a config as flags."""

import argparse
import dataclasses
import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pairvdn.checks import hint
from pairvdn.config import Config
from pairvdn.config.components import known_arguments
from pairvdn.config.config import RECORDS, TRAINING_ENV, record_arguments
from pairvdn.config.errors import ConfigError
from pairvdn.config.registry import KINDS, constructor, module_of
from pairvdn.config.schema import ARGUMENTS_RECORD, NOT_GIVEN, Argument, metavar, parse

if TYPE_CHECKING:
    from pairvdn.runs.analysis.evaluate import Settings

_SHORT = {"checkpoints.keep": "--keep", "method.name": "--method"}


class Parser(argparse.ArgumentParser):
    """Raises `ConfigError` instead of exiting, and has the flags that several commands share."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"pairvdn {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=functools.partial(
                argparse.RawDescriptionHelpFormatter, max_help_position=32
            ),
        )

    def parse_all(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse; flags may be written with underscores as well."""
        namespace, rest = self.parse_known_args(list(map(_with_dashes, arguments)))
        if not rest:
            return namespace
        flag = next((text.partition("=")[0] for text in rest if text.startswith("-")), None)
        if flag is None:
            raise ConfigError(f"{rest[0]!r} is one argument too many; see {self.prog} --help.")
        near = hint(flag, self._option_string_actions, f"see {self.prog} --help.")
        raise ConfigError(f"There is no flag {flag}; {near}")

    def add_trust(self) -> None:
        """`--trust`: the user agrees to import the modules that a config names."""
        self.add_argument(
            "--trust",
            action=_Trust,
            nargs=0,
            default=False,
            help="import the modules that the config names (module:Name, pettingzoo:NAME), also "
            "from the current folder; this runs their code",
        )

    def add_run(self, *, pretrained: bool = True) -> None:
        """The run to open."""
        shipped = ", or pretrained:NAME" if pretrained else ""
        help_ = f"a run folder, for example runs/x{shipped}"
        self.add_argument("run", metavar="RUN", type=Path, help=help_)

    def add_runs(self) -> None:
        """Several runs."""
        self.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="run folders")

    def add_checkpoint(self) -> None:
        """The checkpoint to load."""
        choices = ("last", "best")
        help_ = "checkpoint to load; default: last"
        self.add_argument("--checkpoint", default="last", choices=choices, help=help_)

    def add_episodes(self, default: int) -> None:
        """The number of greedy episodes, their length and their seed."""
        number: dict[str, Any] = {"action": Whole, "least": None}  # `Settings` checks the ranges
        self.add_argument(
            "--episodes", default=default, help=f"number of episodes; default: {default}", **number
        )
        self.add_argument(
            "--max-steps", help="length of an episode; default: env.max_steps of the run", **number
        )
        self.add_argument("--seed", default=0, help="seed of the episodes; default: 0", **number)

    def error(self, message: str) -> NoReturn:
        """Raise the message of argparse as one line."""
        raise ConfigError(f"{message}; see {self.prog} --help.")


def _with_dashes(argument: str) -> str:
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    return name.replace("_", "-") + equals + value


def whole_number(flag: str, text: str, least: int | None = 1) -> int:
    """The whole number after a flag, of at least `least`."""
    number: int = parse(flag, int, text)
    if least is not None and number < least:
        raise ConfigError(f"{flag} must be at least {least}, not {number}.")
    return number


class Whole(argparse.Action):
    """Stores a whole number of at least `least`."""

    def __init__(self, *arguments: Any, least: int | None = 1, **keywords: Any) -> None:
        super().__init__(*arguments, **{"metavar": "N", **keywords})
        self._least = least

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Check and store."""
        setattr(namespace, self.dest, whole_number(option_string, values, self._least))


class _Trust(argparse.Action):
    """Sets `trust` and lets modules be imported from the current folder."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        namespace.trust = True
        find_modules_here()


def episode_settings(given: argparse.Namespace) -> "Settings":
    """The settings that the flags of `add_episodes` describe."""
    # Imported here, so that `pairvdn list` does not wait for everything that evaluates.
    from pairvdn.runs.analysis.evaluate import Settings

    return Settings(
        episodes=given.episodes,
        max_steps=given.max_steps,
        seed=given.seed,
        checkpoint=getattr(given, "checkpoint", "last"),
    )


def find_modules_here() -> None:
    """Let modules be imported from the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def find_named_modules(kind: str, name: str) -> None:
    """If a name on the command line names a module, look for it in the current folder, too."""
    if module_of(kind, name) is not None:
        find_modules_here()


def add_config_flags(parser: Parser, config: Config, arguments: Sequence[str]) -> None:
    """A flag for each field of a config, with its meaning, its choices and its default.

    A component with arbitrary keyword arguments takes those that the command line gives.
    """
    plain = config.to_dict()
    general = parser.add_argument_group("run")
    for key, argument in record_arguments("").items():
        _add(general, key, argument, plain[key])
    for section in RECORDS:
        group = parser.add_argument_group(section)
        for key, argument in record_arguments(section).items():
            _add(group, f"{section}.{key}", argument, plain[section][key])
    decided = _decided_by_environment(config) if {"-h", "--help"} & set(arguments) else {}
    for kind in KINDS:
        name = plain[kind]["name"]
        group = parser.add_argument_group(f"{kind} {name}")
        _add(group, f"{kind}.name", _name_argument(kind), name)
        others = [*plain[kind], *_keys_of(kind, arguments)]
        others = [key for key in dict.fromkeys(others) if key != "name"]
        for key, argument in known_arguments(kind, name, others).items():
            otherwise = decided.get(key, NOT_GIVEN) if kind == "env" else NOT_GIVEN
            _add(group, f"{kind}.{key}", argument, plain[kind].get(key, otherwise))
    _add_training_env(parser, config, arguments)


def _decided_by_environment(config: Config) -> dict[str, Any]:
    """Defaults that only the environment knows: those of its variant, in an `arguments_record`."""
    record = getattr(constructor("env", config.env.name), ARGUMENTS_RECORD, None)
    if record is None:
        return {}
    fields = vars(config.build_env()).values()
    return next((dataclasses.asdict(one) for one in fields if isinstance(one, record)), {})


def _name_argument(kind: str) -> Argument:
    names = ", ".join(KINDS[kind].names())
    meaning = f"{KINDS[kind].title}, one of {names}, or your own, module:Name"
    return Argument("name", str, meaning=meaning)


def _add_training_env(parser: Parser, config: Config, arguments: Sequence[str]) -> None:
    """Every argument of the environment is a flag; help shows those that the config sets."""
    group = parser.add_argument_group(
        TRAINING_ENV,
        f"--{TRAINING_ENV.replace('_', '-')}.ARGUMENT changes an argument of the environment while "
        "training; evaluations ignore it",
    )
    keys = [*config.training_env, *_keys_of(TRAINING_ENV, arguments)]
    for key, argument in _training_env_arguments(config, keys).items():
        _add(group, f"{TRAINING_ENV}.{key}", argument, config.training_env.get(key, NOT_GIVEN))


def _training_env_arguments(config: Config, keys: Sequence[str]) -> dict[str, Argument]:
    known = known_arguments("env", config.env.name, keys)
    return {key: known[key] for key in dict.fromkeys(keys) if key in known}


def _keys_of(kind: str, arguments: Sequence[str]) -> list[str]:
    """The fields of a component that the command line sets."""
    flags = [_with_dashes(argument).partition("=")[0] for argument in arguments]
    prefix = f"--{kind.replace('_', '-')}."
    return [
        flag.removeprefix(prefix).replace("-", "_") for flag in flags if flag.startswith(prefix)
    ]


def _add(group: Any, path: str, argument: Argument, value: Any) -> None:
    names = [f"--{path.replace('_', '-')}"] + ([_SHORT[path]] if path in _SHORT else [])
    texts = [_lower(argument.meaning)] if argument.meaning else []
    if argument.required and value is NOT_GIVEN:
        texts.append("required")
    if value is not NOT_GIVEN:
        texts.append(f"default: {_shown(value)}")
    group.add_argument(
        *names,
        dest=path,
        metavar=metavar(argument.kind),
        default=argparse.SUPPRESS,
        help="; ".join(texts).replace("%", "%%"),
        # A flag without a value means true.
        **({"nargs": "?", "const": "true"} if argument.kind is bool else {}),
    )


def _lower(meaning: str) -> str:
    """The meaning with a small first letter, unless the word is an abbreviation."""
    return meaning if meaning[1:2].isupper() else meaning[0].lower() + meaning[1:]


def _shown(value: Any) -> str:
    """A value as it is written after a flag."""
    if isinstance(value, tuple):
        return ",".join(map(_shown, value))
    return str(value) if isinstance(value, str) else str(value).lower()


def changed(config: Config, namespace: argparse.Namespace) -> Config:
    """The config with the values of the flags."""
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
    """The config with the components that `--env.name` and the like choose, and no other change.

    The components decide which flags exist, so they must be known first.
    """
    names: dict[str, Any] = {}
    for index, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        long = next((f"--{path}" for path, short in _SHORT.items() if short == flag), flag)
        kind = long.removeprefix("--").removesuffix(".name")
        if long == f"--{kind}.name" and kind in KINDS:
            name = value if equals else "".join(arguments[index + 1 : index + 2])
            find_named_modules(kind, name)
            names[f"{kind}.name"] = name
    return config.replace(names)
