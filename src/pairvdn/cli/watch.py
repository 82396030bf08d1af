"""`pairvdn watch`: a page on which one sees what the agents do, and why."""

import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.films import add_film_flags, film_every, show_films
from pairvdn.cli.flags import Parser, add_trust_flag
from pairvdn.config.schema import parse
from pairvdn.runs.analysis.record import Settings, record_both, record_run
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.viewing.watch import write_page

ABOUT = """Record greedy episodes of a run and show them in the browser: the scene, what every agent
sees and does, and, for pair-wise methods, what each pair contributes, its table, and where the
agents do something else than each would alone. The page is one HTML file that needs no network.
With --out it is only written. --gif, --mp4 and --window show the first episode instead."""


def main(arguments: Sequence[str]) -> int:
    """Record, write the page, open it."""
    parser = Parser("watch", ABOUT)
    parser.add_argument(
        "run", metavar="RUN", type=Path, help="its folder, for example runs/x, or pretrained:NAME"
    )
    parser.add_argument(
        "--against",
        metavar="RUN",
        type=Path,
        help="a second run, shown beside it on the same starts",
    )
    parser.add_argument("--episodes", default="3", metavar="N", help="how many (now 3)")
    parser.add_argument(
        "--max-steps", metavar="N", help="length of an episode; default: env.max_steps of the run"
    )
    parser.add_argument("--seed", default="0", metavar="N", help="of the episodes (now 0)")
    parser.add_argument(
        "--checkpoint", default="last", choices=("last", "best"), help="which one (now last)"
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="write here and open nothing")
    add_trust_flag(parser)
    add_film_flags(parser)
    given = parser.parse_all(arguments)
    settings = Settings(
        episodes=parse("--episodes", int, given.episodes),
        max_steps=(None if given.max_steps is None else parse("--max-steps", int, given.max_steps)),
        seed=parse("--seed", int, given.seed),
        checkpoint=given.checkpoint,
    )
    if given.out is not None and given.out.is_dir():
        raise FolderError(f"{given.out} is a folder; --out names a file, for example page.html.")
    every = film_every(given)
    runs = (
        [record_run(given.run, settings, trust=given.trust)]
        if given.against is None
        else record_both(given.run, given.against, settings, trust=given.trust)
    )
    if show_films(given, runs, every) and given.out is None:
        return 0
    try:
        path = write_page(runs, given.out or _new_file())
    except OSError as error:
        raise RunError(
            f"{error.filename or given.out} cannot be written: {error.strerror}."
        ) from error
    print(path)
    if given.out is None and not webbrowser.open(path.resolve().as_uri()):
        print("There is no browser to open it with.")
    return 0


def _new_file() -> Path:
    return Path(tempfile.mkdtemp(prefix="pairvdn-watch-")) / "watch.html"
