"""Films and the window of `pairvdn watch`."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairvdn.cli.extras import drawing
from pairvdn.cli.flags import Parser, positive
from pairvdn.cli.progress import frames_progress
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.analysis.record import RecordedRun
from pairvdn.runs.errors import RunError

_WIDTHS = {1: 640, 2: 480}  # pixels of one scene, by how many stand side by side


def add_film_flags(parser: Parser) -> None:
    """Other ways to look at an episode."""
    group = parser.add_argument_group("films, of the first episode, instead of the page")
    group.add_argument("--gif", metavar="FILE", type=Path, help="write an animated picture")
    group.add_argument("--mp4", metavar="FILE", type=Path, help="write a film")
    group.add_argument(
        "--every",
        metavar="N",
        help="steps per picture of a film; default: as few as players can show",
    )
    group.add_argument("--window", action="store_true", help="show it in a window")


def film_every(given: Any) -> int | None:
    """The number of steps per picture of a film; checked before anything is recorded."""
    if given.every is None:
        return None
    if given.gif is None and given.mp4 is None:
        raise ConfigError("--every belongs to a film: --gif FILE or --mp4 FILE.")
    return positive("--every", given.every)


def show_films(given: Any, runs: Sequence[RecordedRun], every: int | None) -> bool:
    """Write and show the films that the flags request; False if they request none."""
    if given.gif is None and given.mp4 is None and not given.window:
        return False
    stages = drawing("stage")
    stage = stages.Stage(stages.shown_runs(runs), width=_WIDTHS[len(runs)])
    pace = {"seconds_per_step": runs[0].seconds_per_step}
    for path, writer in ((given.gif, "write_gif"), (given.mp4, "write_mp4")):
        if path is not None:
            _write(getattr(drawing("film"), writer), stage, path, {**pace, "every": every})
            print(path)
    if given.window:
        window, player = drawing("window"), drawing("player")
        title = f"pairvdn: {runs[0].environment}"
        try:
            deque(player.show(stage, title=title, **pace), maxlen=0)
        except window.NoScreenError as error:
            raise RunError(f"{error} --gif and --mp4 write films.") from error
    return True


def _write(writer: Any, stage: Any, path: Path, pace: dict[str, Any]) -> None:
    try:
        with frames_progress(path.name) as on_frame:
            writer(stage, path, **pace, on_frame=on_frame)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no ffmpeg
        raise RunError(f"{path} cannot be written: {one_line(error)}") from error
