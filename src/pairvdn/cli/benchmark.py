"""`pairvdn benchmark`: the speed of a preset on this machine."""

import sys
from collections.abc import Sequence

from pairvdn.cli.flags import Parser, changed
from pairvdn.cli.train import preset_config
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import parse
from pairvdn.runs.analysis.benchmark import measure

DEFAULT = "box-jump/pairvdn"
ABOUT = f"""Print how fast a preset ({DEFAULT} by default) compiles, collects and learns on this
machine. Every field of the config is a flag, as in `pairvdn train`. The speeds of single parts
(maximisers, updates, physics) are printed by the scripts in benchmarks/ of the repository."""


def main(arguments: Sequence[str]) -> int:
    """Measure a preset."""
    parser = Parser("benchmark", ABOUT)
    parser.add_argument("preset", metavar="PRESET", nargs="?", default=DEFAULT)
    parser.add_argument("--seconds", default="5", help="time to measure; default: 5")
    config = preset_config(parser, arguments, DEFAULT)
    given = parser.parse_all(arguments)
    seconds = parse("--seconds", float, given.seconds)
    if not 0 < seconds < float("inf"):
        raise ConfigError(f"--seconds must be above 0, not {seconds:g}.")
    speed = measure(
        changed(config, given),
        seconds=seconds,
        say=lambda message: print(message, file=sys.stderr),
    )
    print(f"compilation               {speed.compile_seconds:12.1f} s")
    print(f"collecting at random      {speed.steps_only:12,.0f} env steps/s")
    print(f"training                  {speed.steps:12,.0f} env steps/s")
    print(f"                          {speed.updates:12,.0f} updates/s")
    return 0
