"""`pairvdn evaluate`: the learned value of a run in numbers with intervals."""

from collections.abc import Sequence

from pairvdn.cli.flags import Parser, episode_settings
from pairvdn.cli.tables import interval, table
from pairvdn.runs.analysis.evaluate import Evaluated, evaluate
from pairvdn.runs.files import to_json

ABOUT = """Play greedy episodes with the learned value of a run, or of each seed of a folder of
runs. Prints the mean with a 95 % bootstrap interval: over the episodes of one training seed, or
over the training seeds if there are several. The random policy plays 30 episodes for comparison.
The result is kept in the run's evaluations/. The same run and flags give the same numbers."""


def main(arguments: Sequence[str]) -> int:
    """Evaluate a run."""
    parser = Parser("evaluate", ABOUT)
    parser.add_run()
    parser.add_episodes(20)
    parser.add_checkpoint()
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    parser.add_trust()
    given = parser.parse_all(arguments)
    evaluated = evaluate(given.run, episode_settings(given), trust=given.trust)
    print(to_json(evaluated.to_dict()) if given.json else _text(evaluated))
    return 0


def _text(evaluated: Evaluated) -> str:
    greedy, random = evaluated.greedy, evaluated.random
    rows = [["return", interval(greedy.returns), interval(random.returns)]]
    for name, by_moment in greedy.measures.items():
        rows += [
            [f"{name}, t={moment}", interval(one), interval(random.measures[name][moment])]
            for moment, one in by_moment.items()
        ]
    rows += [
        [name, interval(one), interval(random.shares[name])] for name, one in greedy.shares.items()
    ]
    epochs = ", ".join(map(str, dict.fromkeys(evaluated.epochs)))
    return "\n".join(
        [
            f"{evaluated.run}: {evaluated.environment}, {evaluated.method}, "
            f"{evaluated.checkpoint} checkpoint (epoch {epochs}), "
            f"{evaluated.episodes} episodes of at most {evaluated.max_steps} steps",
            "",
            table(["", evaluated.method, "random"], rows),
            "",
            f"mean [95 % interval over {evaluated.interval_over}]; "
            f"{evaluated.diverged} of {evaluated.seeds} diverged",
        ]
    )
