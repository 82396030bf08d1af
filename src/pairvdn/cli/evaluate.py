"""`pairvdn evaluate`: what a run has learned, as numbers with intervals."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairvdn.cli.flags import Parser, add_trust_flag
from pairvdn.cli.tables import interval, table
from pairvdn.config.schema import parse
from pairvdn.runs.analysis.evaluate import Settings, evaluate

ABOUT = """Play greedy episodes with what a run, or each seed of a folder of runs, has learned.
Prints the mean with a 95 % bootstrap interval: over the episodes of one training seed, or over the
training seeds where there are several. The random policy plays 30 episodes beside it. The result is
kept in the run's evaluations/. The same run and flags give the same numbers."""


def main(arguments: Sequence[str]) -> int:
    """Evaluate a run."""
    parser = Parser("evaluate", ABOUT)
    parser.add_argument(
        "run", metavar="RUN", type=Path, help="its folder, for example runs/x, or pretrained:NAME"
    )
    add_evaluation_flags(parser)
    parser.add_argument(
        "--checkpoint", default="last", choices=("last", "best"), help="which one (now last)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and no more")
    given = parser.parse_all(arguments)
    evaluated = evaluate(given.run, evaluation_settings(given, given.checkpoint), trust=given.trust)
    print(json.dumps(evaluated) if given.json else _text(evaluated))
    return 0


def add_evaluation_flags(parser: Parser) -> None:
    """How many episodes, how long, and from which seed."""
    parser.add_argument("--episodes", default="20", metavar="N", help="how many (now 20)")
    parser.add_argument(
        "--max-steps", metavar="N", help="length of an episode; default: env.max_steps of the run"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="of the episodes (now 0)")
    add_trust_flag(parser)


def evaluation_settings(given: Any, checkpoint: Any = "last") -> Settings:
    """What the flags say, checked."""
    return Settings(
        episodes=parse("--episodes", int, given.episodes),
        max_steps=(None if given.max_steps is None else parse("--max-steps", int, given.max_steps)),
        seed=parse("--seed", int, given.seed),
        checkpoint=checkpoint,
    )


def _text(evaluated: dict[str, Any]) -> str:
    extra, random = evaluated["extra"], evaluated["extra"]["random"]
    rows = [["return", interval(evaluated["return"]), interval(evaluated["random"])]]
    for name, by_moment in extra["measures"].items():
        rows += [
            [f"{name}, t={moment}", interval(one), interval(random["measures"][name][moment])]
            for moment, one in by_moment.items()
        ]
    rows += [
        [name, interval(one), interval(random["shares"][name])]
        for name, one in extra["shares"].items()
    ]
    epochs = ", ".join(map(str, dict.fromkeys(extra["epochs"])))
    return "\n".join(
        [
            f"{evaluated['run']}: {evaluated['environment']}, {evaluated['method']}, "
            f"{evaluated['checkpoint']} checkpoint (epoch {epochs}), "
            f"{evaluated['episodes']} episodes of at most {evaluated['max_steps']} steps",
            "",
            table(["", evaluated["method"], "random"], rows),
            "",
            f"mean [95 % interval over {evaluated['interval_over']}]; "
            f"{extra['diverged']} of {extra['seeds']} diverged",
        ]
    )
