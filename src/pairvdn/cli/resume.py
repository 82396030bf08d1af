"""`pairvdn resume`: go on with a run."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.devices import add_device_flags, flat, shards_of
from pairvdn.cli.flags import Parser, add_trust_flag
from pairvdn.cli.progress import progress
from pairvdn.cli.train import add_output_flags, loggers, require_loggers
from pairvdn.runs import resume
from pairvdn.runs.folder import RunFolder, read_config, run_folders

ABOUT = """Go on with a run, or with a folder of several seeds, from its newest sound checkpoint.
It ends with the same bits as a run that was never stopped, unless its environments are stepped on
the host (pettingzoo:...): their episodes start anew, and a warning says so."""


def main(arguments: Sequence[str]) -> int:
    """Go on with a run."""
    parser = Parser("resume", ABOUT)
    parser.add_argument("run", metavar="RUN", type=Path, help="its folder, for example runs/x")
    add_device_flags(parser)
    add_output_flags(parser)
    add_trust_flag(parser)
    given = parser.parse_all(arguments)
    config = read_config(given.run, trust=given.trust)
    require_loggers(given)
    saved = [path.name for one in run_folders(given.run) for path in RunFolder(one).saved()]
    settings = {"command": "resume", "saved": saved, **flat(config.to_dict())}
    shards = shards_of(given, settings)
    with progress(quiet=given.quiet) as (on_epoch, say):
        went_on = resume(
            given.run,
            on_epoch=on_epoch,
            say=say,
            make_loggers=lambda folder: loggers(folder, config, given),
            shards=shards,
            trust=given.trust,
        )
    if not given.quiet:
        already = "" if went_on else " already; there is nothing to do"
        print(f"{given.run} has finished its {config.epochs} epochs{already}")
    return 0
