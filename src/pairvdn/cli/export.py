"""`pairvdn export`: a small copy of a run to share, or the evaluations of runs for marl-eval."""

import json
from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.flags import Parser
from pairvdn.config.errors import ConfigError
from pairvdn.runs.analysis.marl_eval import marl_eval
from pairvdn.runs.export import export

ABOUT = """Copy the config and the learned parameters of a run into a new, small folder, without
replay and optimiser. evaluate, compare, watch and play accept the copy like any run. It cannot be
trained further.

With --marl-eval, write the evaluations of several runs into one JSON file in the layout of the
package marl-eval, which aggregates and plots them. The absolute metric is the return of the best
checkpoint in ten times as many episodes."""


def main(arguments: Sequence[str]) -> int:
    """Export a run, or evaluations."""
    parser = Parser("export", ABOUT)
    parser.add_runs()
    parser.add_argument("out", metavar="OUT", type=Path, help="a new folder, or a .json file")
    parser.add_checkpoint()
    parser.add_argument(
        "--marl-eval", action="store_true", help="write evaluations for marl-eval into a JSON file"
    )
    parser.add_trust()
    given = parser.parse_all(arguments)
    if given.marl_eval:
        text = json.dumps(marl_eval(given.runs, trust=given.trust))
        given.out.write_text(f"{text}\n", encoding="utf-8")
        print(given.out)
        return 0
    if len(given.runs) > 1:
        raise ConfigError(
            f"export copies one run, not {len(given.runs)}; --marl-eval takes several."
        )
    size = export(given.runs[0], given.out, given.checkpoint, trust=given.trust)
    print(f"{given.out}: {size / 1000:.0f} kB")
    return 0
