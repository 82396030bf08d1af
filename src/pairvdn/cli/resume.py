"""`pairvdn resume`: train a stopped run to its end."""

from collections.abc import Sequence

from pairvdn.cli.devices import add_device_flags, shards_of
from pairvdn.cli.flags import Parser, add_run, add_trust_flag
from pairvdn.cli.progress import progress
from pairvdn.cli.train import add_output_flags, loggers, require_loggers
from pairvdn.runs import resume
from pairvdn.runs.folder import RunFolder, read_config, run_folders
from pairvdn.studies.records import flat

ABOUT = """Resume a run, or a folder of several seeds, from its newest intact checkpoint. The result
is bit for bit that of an uninterrupted run, unless environments are stepped on the host
(pettingzoo:...): their episodes restart, with a warning."""


def main(arguments: Sequence[str]) -> int:
    """Resume a run."""
    parser = Parser("resume", ABOUT)
    add_run(parser, pretrained=False)
    add_device_flags(parser)
    add_output_flags(parser)
    add_trust_flag(parser)
    given = parser.parse_all(arguments)
    config = read_config(given.run, trust=given.trust)
    require_loggers(given)
    saved = [path.name for run in run_folders(given.run) for path in RunFolder(run).saved()]
    settings = {"command": "resume", "saved": saved, **flat(config.to_dict())}
    shards = shards_of(given, settings)
    with progress(quiet=given.quiet) as (on_epoch, say):
        resumed = resume(
            given.run,
            trust=given.trust,
            on_epoch=on_epoch,
            say=say,
            make_loggers=lambda folder: loggers(folder, config, given),
            shards=shards,
        )
    if not given.quiet:
        already = "" if resumed else " already: nothing to do"
        print(f"{given.run} has finished its {config.epochs} epochs{already}")
    return 0
