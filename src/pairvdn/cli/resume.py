"""`pairvdn resume`: train a stopped run to its end, or a finished one further."""

from collections.abc import Sequence

from pairvdn.cli.devices import add_device_flags
from pairvdn.cli.flags import Parser, Whole
from pairvdn.cli.train import add_output_flags, session
from pairvdn.runs import resume
from pairvdn.runs.folder import RunFolder, read_config, run_folders

ABOUT = """Resume a run, or a folder of several seeds, from its newest intact checkpoint. The result
is bit for bit that of an uninterrupted run, unless environments are stepped on the host
(pettingzoo:...): their episodes restart, with a warning. --epochs extends a run, also a finished
one, whose replay is refilled by acting unless it was kept (--checkpoints.keep-replay)."""


def main(arguments: Sequence[str]) -> int:
    """Resume a run."""
    parser = Parser("resume", ABOUT)
    parser.add_run(pretrained=False)
    parser.add_argument("--epochs", action=Whole, help="new length of the run, to extend it")
    parser.add_argument(
        "--changed",
        action="store_true",
        help="resume although settings or software have changed since the last checkpoint",
    )
    add_device_flags(parser)
    add_output_flags(parser)
    parser.add_trust()
    given = parser.parse_all(arguments)
    config = read_config(given.run, trust=given.trust)
    config = config if given.epochs is None else config.replace({"epochs": given.epochs})
    saved = [epoch for run in run_folders(given.run) for epoch in RunFolder(run).saved_epochs()]
    with session(given, config, {"command": "resume", "saved": saved}) as keywords:
        how = {"epochs": given.epochs, "changed": given.changed, "trust": given.trust}
        resumed = resume(given.run, **how, **keywords)
    if not given.quiet:
        already = "" if resumed else " already: nothing to do"
        print(f"{given.run} has finished its {config.epochs} epochs{already}")
    return 0
