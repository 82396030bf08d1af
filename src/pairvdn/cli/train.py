"""`pairvdn train`: a new run from a preset."""

import argparse
import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pairvdn.cli.devices import add_device_flags, shards_of
from pairvdn.cli.flags import (
    Parser,
    Whole,
    add_config_flags,
    changed,
    find_modules_here,
    find_named_modules,
    renamed,
)
from pairvdn.cli.progress import progress
from pairvdn.config import Config, load_preset
from pairvdn.config.errors import ConfigError, unreadable
from pairvdn.config.presets import is_preset
from pairvdn.envs import external
from pairvdn.runs import train
from pairvdn.runs.loggers import Logger, has_tensorboard, require_wandb, tensorboard, wandb
from pairvdn.studies.records import flat

ABOUT = """Train from a preset: ENV/METHOD is our own recipe, ENV/METHOD-paper has the paper's
hyper-parameters; `pairvdn list` names them all. Instead of a preset, name

  jaxmarl:NAME             an environment of JaxMARL
  pettingzoo:MODULE.ENV    an environment of PettingZoo
  mypackage.door:Door      your own class or function; --method and others accept them, too
  FILE.toml                the config of another run

Every field of the config is a flag. The preset decides which flags exist:
`pairvdn train box-jump/pairvdn --help`."""


def main(arguments: Sequence[str]) -> int:
    """Train from a preset."""
    parser = Parser("train", ABOUT)
    parser.add_argument("preset", metavar="PRESET", help="for example box-jump/pairvdn")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="a new folder; default: runs/ENV-METHOD-NUMBER"
    )
    parser.add_argument(
        "--seeds", action=Whole, help="number of seeds, from --seed on, to train side by side"
    )
    parser.add_trust()
    add_device_flags(parser)
    add_output_flags(parser)
    config = preset_config(parser, arguments)
    given = parser.parse_all(arguments)
    config = changed(config, given)
    out = given.out or _free_folder(config)
    settings = {"command": "train", "out": out.name, "seeds": given.seeds}
    with session(given, config, settings) as keywords:
        train(config, out, num_seeds=given.seeds, **keywords)
        keywords["say"](f"finished: {out}")
    return 0


def preset_config(parser: Parser, arguments: Sequence[str], default: str | None = None) -> Config:
    """The config of the preset on the command line; its fields become flags of the parser."""
    preset = _preset_among(arguments) or default
    if preset is None:
        if {"-h", "--help"} & set(arguments):
            parser.parse_args(["--help"])
        raise ConfigError(f"Name a preset: {parser.prog} PRESET; see `pairvdn list`.")
    try:
        config = renamed(_read(preset, trust="--trust" in arguments), arguments)
    except ConfigError as error:
        raise _with_installation(preset, error) from error
    add_config_flags(parser, config, arguments)
    parser.usage = f"{parser.prog} PRESET [flags]"
    return config


def _preset_among(arguments: Sequence[str]) -> str | None:
    """The argument that names a preset: the first, or one after flags that looks like one."""
    if arguments and not arguments[0].startswith("-"):
        return arguments[0]
    pairs = itertools.pairwise(arguments)
    return next((text for flag, text in pairs if _looks_like_preset(text, after=flag)), None)


def _looks_like_preset(argument: str, *, after: str) -> bool:
    if argument.startswith("-") or (":" in argument and after.endswith((".name", "--method"))):
        return False
    return argument.endswith(".toml") or is_preset(argument)


def _read(preset: str, *, trust: bool) -> Config:
    if not preset.endswith(".toml"):
        env, _, method = preset.partition("/")
        find_named_modules("env", env)
        find_named_modules("method", method)
        return load_preset(preset)
    if trust:
        find_modules_here()
    try:
        return Config.from_toml(Path(preset).read_text(encoding="utf-8"), trust=trust)
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(preset, error) from error


def _with_installation(preset: str, error: ConfigError) -> ConfigError:
    """The error with the command that installs the missing package of an external library."""
    cause = error.__cause__
    is_external = preset.partition(":")[0] in external.LIBRARIES
    if not is_external or not isinstance(cause, ModuleNotFoundError):
        return error
    return ConfigError(f"{error} If {cause.name} is a package: pip install {cause.name}")


def add_output_flags(parser: Parser) -> None:
    """Flags of output and loggers."""
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")
    parser.add_argument("--wandb", action="store_true", help="log to Weights & Biases as well")
    parser.add_argument(
        "--no-tensorboard",
        action="store_true",
        help="write no event files, even if tensorboardX is installed",
    )


@contextlib.contextmanager
def session(
    given: argparse.Namespace, config: Config, settings: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The arguments of `train` and `resume` from the flags: progress, loggers and devices.

    `settings`, like the config, must be the same in all processes that train together.
    """
    if given.wandb:
        require_wandb()
    shards = shards_of(given, {**settings, **flat(config.to_dict())})
    with progress(quiet=given.quiet) as (on_epoch, say):
        yield {
            "on_epoch": on_epoch,
            "say": say,
            "make_loggers": lambda folder: _loggers(folder, config, given),
            "shards": shards,
        }


def _loggers(folder: Path, config: Config, given: argparse.Namespace) -> list[Logger]:
    chosen: list[Logger] = []
    if has_tensorboard() and not given.no_tensorboard:
        chosen.append(tensorboard(folder))
    if given.wandb:
        chosen.append(wandb(folder, config))
    return chosen


def _free_folder(config: Config) -> Path:
    # File systems and shells dislike colons.
    name = f"{config.env.name}-{config.method.name}".replace(":", "-")
    numbered = (Path("runs") / f"{name}-{number}" for number in itertools.count(1))
    return next(folder for folder in numbered if not folder.exists())
