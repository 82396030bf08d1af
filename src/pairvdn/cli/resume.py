"""`pairvdn resume`: train a stopped run to its end."""

from collections.abc import Sequence

from pairvdn.cli.devices import add_device_flags
from pairvdn.cli.flags import Parser
from pairvdn.cli.train import add_output_flags, session
from pairvdn.runs import resume
from pairvdn.runs.folder import RunFolder, read_config, run_folders

ABOUT = """Resume a run, or a folder of several seeds, from its newest intact checkpoint. The result
is bit for bit that of an uninterrupted run, unless environments are stepped on the host
(pettingzoo:...): their episodes restart, with a warning."""


def main(arguments: Sequence[str]) -> int:
    """Resume a run."""
    parser = Parser("resume", ABOUT)
    parser.add_run(pretrained=False)
    add_device_flags(parser)
    add_output_flags(parser)
    parser.add_trust()
    given = parser.parse_all(arguments)
    config = read_config(given.run, trust=given.trust)
    saved = [path.name for run in run_folders(given.run) for path in RunFolder(run).saved()]
    with session(given, config, {"command": "resume", "saved": saved}) as keywords:
        resumed = resume(given.run, trust=given.trust, **keywords)
    if not given.quiet:
        already = "" if resumed else " already: nothing to do"
        print(f"{given.run} has finished its {config.epochs} epochs{already}")
    return 0
