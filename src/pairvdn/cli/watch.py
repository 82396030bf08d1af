"""`pairvdn watch`: a page that shows the actions of the agents and the reasons for them."""

import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from pairvdn.cli.films import add_film_flags, film_every, show_films
from pairvdn.cli.flags import Parser, add_trust_flag
from pairvdn.cli.run_flags import (
    add_checkpoint,
    add_episode_flags,
    add_run,
    episode_settings,
)
from pairvdn.runs.analysis.record import record_both, record_run
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.viewing.watch import write_page

ABOUT = """Record greedy episodes of a run and show them in the browser: the scene, the observation
and action of every agent, and, for pair-wise methods, the contribution and the table of each pair,
and the agents whose action differs from their own best one. The page is one HTML file that needs no
network. --out writes it without opening it. --gif, --mp4 and --window show the first episode
instead."""


def main(arguments: Sequence[str]) -> int:
    """Record, write the page, open it."""
    parser = Parser("watch", ABOUT)
    add_run(parser)
    parser.add_argument(
        "--against",
        metavar="RUN",
        type=Path,
        help="a second run, shown beside it on the same starts",
    )
    add_episode_flags(parser, episodes=3)
    add_checkpoint(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, help="write here and open nothing")
    add_film_flags(parser)
    add_trust_flag(parser)
    given = parser.parse_all(arguments)
    settings = episode_settings(given)
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
