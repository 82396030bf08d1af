"""`pairvdn train`: a new run from a preset."""

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.devices import add_device_flags, flat, shards_of
from pairvdn.cli.flags import Parser, add_config_flags, changed, positive, renamed
from pairvdn.cli.progress import progress
from pairvdn.config import Config, load_preset, preset_names
from pairvdn.config.errors import ConfigError
from pairvdn.envs import external
from pairvdn.runs import train
from pairvdn.runs.loggers import Logger, has_tensorboard, require_wandb, tensorboard, wandb

ABOUT = """Train from a preset, ENV/METHOD (our own recipe) or ENV/METHOD-paper (the paper's
hyper-parameters); `pairvdn list` names them all. A .toml file, a run's config.toml say, will do
too, and so does an environment of another library: pettingzoo:MODULE.ENV --method METHOD, or
jaxmarl:NAME. Every field of the config is a flag; which there are depends on the preset:
`pairvdn train box-jump/pairvdn --help`."""


def main(arguments: Sequence[str]) -> int:
    """Train from a preset."""
    parser = Parser("train", ABOUT)
    parser.add_argument("preset", metavar="PRESET", help="for example box-jump/pairvdn")
    parser.add_argument("--out", type=Path, help="a new folder; default runs/ENV-METHOD-NUMBER")
    parser.add_argument(
        "--seeds", metavar="N", help="train so many seeds side by side, from --seed"
    )
    add_device_flags(parser)
    add_output_flags(parser)
    config = preset_config(parser, arguments)
    given = parser.parse_all(arguments)
    config = changed(config, given)
    seeds = None if given.seeds is None else positive("--seeds", given.seeds)
    require_loggers(given)
    out = given.out or _free_folder(config)
    settings = {"command": "train", "out": out.name, "seeds": seeds, **flat(config.to_dict())}
    shards = shards_of(given, settings)
    with progress(quiet=given.quiet) as (on_epoch, say):
        train(
            config,
            out,
            num_seeds=seeds,
            on_epoch=on_epoch,
            say=say,
            make_loggers=lambda folder: loggers(folder, config, given),
            shards=shards,
        )
        say(f"finished: {out}")
    return 0


def preset_config(parser: Parser, arguments: Sequence[str], default: str | None = None) -> Config:
    """The config of the preset among the arguments, whose fields become flags of the parser."""
    first = [one for one in arguments[:1] if not one.startswith("-")]
    named = [one for one in arguments if _is_preset(one)]
    preset = next(iter(named + first), default)
    if preset is None:
        if {"-h", "--help"} & set(arguments):
            parser.parse_args(["--help"])
        raise ConfigError(f"which preset? {parser.prog} PRESET; see `pairvdn list`.")
    config = renamed(_read(preset), arguments)
    add_config_flags(parser, config, arguments)
    return config


def _is_preset(argument: str) -> bool:
    prefix, colon, _ = argument.partition(":")
    of_a_library = bool(colon) and prefix in external.LIBRARIES
    return of_a_library or argument in preset_names() or argument.endswith(".toml")


def _read(preset: str) -> Config:
    if not preset.endswith(".toml"):
        return load_preset(preset)
    try:
        return Config.from_toml(Path(preset).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{preset} cannot be read: {error}") from error


def add_output_flags(parser: Parser) -> None:
    """Flags about what is shown and logged."""
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")
    parser.add_argument("--wandb", action="store_true", help="log to Weights & Biases as well")
    parser.add_argument(
        "--no-tensorboard", action="store_true", help="no event files, though tensorboardX is here"
    )


def require_loggers(given: argparse.Namespace) -> None:
    """Refuse before anything is written."""
    if given.wandb:
        require_wandb()


def loggers(folder: Path, config: Config, given: argparse.Namespace) -> list[Logger]:
    """Where the numbers go besides the folder."""
    chosen: list[Logger] = []
    if has_tensorboard() and not given.no_tensorboard:
        chosen.append(tensorboard(folder))
    if given.wandb:
        chosen.append(wandb(folder, config))
    return chosen


def _free_folder(config: Config) -> Path:
    env = config.env.name.replace(":", "-")  # which file systems and shells take amiss
    numbered = (
        Path("runs") / f"{env}-{config.method.name}-{number}" for number in itertools.count(1)
    )
    return next(folder for folder in numbered if not folder.exists())
