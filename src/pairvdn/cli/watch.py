"""`pairvdn watch`: a page, a film or a window that shows what agents do, and why."""

import argparse
import tempfile
import webbrowser
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pairvdn.cli.flags import Parser, Whole, episode_settings
from pairvdn.cli.progress import frames_progress
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.analysis.record import RecordedRun, record_both, record_run
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.viewing.watch import write_page

if TYPE_CHECKING:
    from pairvdn.viewing.stage import Stage

ABOUT = """Record greedy episodes of a run and show them in the browser: the scene, the observation
and action of every agent, and, for pair-wise methods, the contribution and the table of each pair,
and the agents whose action differs from their own best one. The page is one HTML file that needs no
network. --out writes it without opening it. --gif, --mp4 and --window show the first episode
instead."""

_WIDTHS = {1: 640, 2: 480}  # pixels of a scene, by the number of scenes side by side


def main(arguments: Sequence[str]) -> int:
    """Record, write the page, open it."""
    parser = Parser("watch", ABOUT)
    parser.add_run()
    parser.add_argument(
        "--against", metavar="RUN", type=Path, help="a second run, from the same starts, beside it"
    )
    parser.add_episodes(3)
    parser.add_checkpoint()
    parser.add_argument("--out", metavar="FILE", type=Path, help="write the page, open nothing")
    _add_film_flags(parser)
    parser.add_trust()
    given = parser.parse_all(arguments)
    settings = episode_settings(given)
    if given.out is not None and given.out.is_dir():
        raise FolderError(f"{given.out} is a folder; --out names a file, for example page.html.")
    if given.every is not None and given.gif is None and given.mp4 is None:
        raise ConfigError("--every belongs to a film: --gif FILE or --mp4 FILE.")
    runs = (
        [record_run(given.run, settings, trust=given.trust)]
        if given.against is None
        else record_both(given.run, given.against, settings, trust=given.trust)
    )
    if _show_films(given, runs) and given.out is None:
        return 0
    try:
        path = write_page(runs, given.out or _new_file())
    except OSError as error:
        target = error.filename or given.out
        raise RunError(f"{target} cannot be written: {error.strerror}.") from error
    print(path)
    if given.out is None and not webbrowser.open(path.resolve().as_uri()):
        print("There is no browser to open it with.")
    return 0


def _new_file() -> Path:
    return Path(tempfile.mkdtemp(prefix="pairvdn-watch-")) / "watch.html"


def _add_film_flags(parser: Parser) -> None:
    group = parser.add_argument_group("films, of the first episode, instead of the page")
    group.add_argument("--gif", metavar="FILE", type=Path, help="write an animated picture")
    group.add_argument("--mp4", metavar="FILE", type=Path, help="write a film")
    group.add_argument(
        "--every", action=Whole, help="steps per picture of a film; default: as few as players show"
    )
    group.add_argument("--window", action="store_true", help="show the episode in a window")


def _show_films(given: argparse.Namespace, runs: Sequence[RecordedRun]) -> bool:
    """Write and show the films that the flags request; False if they request none."""
    if given.gif is None and given.mp4 is None and not given.window:
        return False
    from pairvdn.viewing.stage import Stage, shown_runs

    stage = Stage(shown_runs(runs), width=_WIDTHS[len(runs)])
    pace = runs[0].seconds_per_step
    if given.gif is not None or given.mp4 is not None:
        from pairvdn.viewing.film import write_gif, write_mp4

        for path, write in ((given.gif, write_gif), (given.mp4, write_mp4)):
            if path is not None:
                _write(write, stage, path, pace, given.every)
                print(path)
    if given.window:
        from pairvdn.viewing.player import show
        from pairvdn.viewing.window import NoScreenError

        try:
            title = f"pairvdn: {runs[0].environment}"
            deque(show(stage, title=title, seconds_per_step=pace), maxlen=0)
        except NoScreenError as error:
            raise RunError(f"{error} --gif and --mp4 write films.") from error
    return True


def _write(
    write: Callable[..., Path], stage: "Stage", path: Path, pace: float, every: int | None
) -> None:
    try:
        with frames_progress(path.name) as on_frame:
            write(stage, path, seconds_per_step=pace, every=every, on_frame=on_frame)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no ffmpeg
        raise RunError(f"{path} cannot be written: {one_line(error)}") from error
