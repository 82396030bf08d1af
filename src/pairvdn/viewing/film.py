"""Recorded episodes as films in real time."""

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pairvdn.viewing import MissingPackageError
from pairvdn.viewing.stage import Picture, Stage

try:
    import imageio_ffmpeg
    from PIL import Image
except ImportError as error:
    raise MissingPackageError(
        "A film needs Pillow and imageio-ffmpeg: pip install 'pairvdn[view]'"
    ) from error

OnFrame = Callable[[int, int], None]  # (frames drawn, frames in all)
GIF_RATE, MP4_RATE = 20, 40  # frames per second at most
LAST_SECONDS = 1.5  # of the last frame of a GIF
_COLOURS = 128
_QUALITY = 18  # rate factor of H.264; less is better, and flat colours show every flaw


def write_gif(
    stage: Stage,
    path: Path,
    *,
    seconds_per_step: float,
    every: int | None = None,
    on_frame: OnFrame = lambda _, __: None,
) -> Path:
    """Write a GIF that repeats forever. The same episodes give the same bytes.

    There is a frame every `every` steps; None: as many frames as viewers can show.
    """
    steps, seconds = _timing(stage, seconds_per_step, every, GIF_RATE)
    images = _with_one_palette(stage, _pictures(stage, steps, on_frame))
    durations = [max(20, round(1000 * seconds))] * len(steps)
    durations[-1] = round(1000 * LAST_SECONDS)
    path.parent.mkdir(parents=True, exist_ok=True)
    next(images).save(
        path, format="GIF", save_all=True, append_images=images, duration=durations, loop=0
    )
    return path


def write_mp4(
    stage: Stage,
    path: Path,
    *,
    seconds_per_step: float,
    every: int | None = None,
    on_frame: OnFrame = lambda _, __: None,
) -> Path:
    """Write an MP4 (H.264); see `write_gif`."""
    steps, seconds = _timing(stage, seconds_per_step, every, MP4_RATE)
    height, width, _ = stage.picture(0).shape
    path.parent.mkdir(parents=True, exist_ok=True)
    # imageio_ffmpeg.write_frames forks, which breaks the threads of JAX.
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"),
        *("-r", f"{1 / seconds:.6f}", "-i", "-"),
        *("-c:v", "libx264", "-crf", str(_QUALITY), "-pix_fmt", "yuv420p"),
        *("-movflags", "+faststart", "-f", "mp4", f"file:{path}"),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as ffmpeg:
        message = _feed(ffmpeg, _pictures(stage, steps, on_frame))
    if ffmpeg.returncode != 0:
        raise OSError(ffmpeg.returncode, message, str(path))
    return path


def _feed(ffmpeg: subprocess.Popen[bytes], pictures: Iterator[Picture]) -> str:
    """Send all pictures to ffmpeg and return the first line of its errors."""
    assert ffmpeg.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # ffmpeg ended early, with an error
        for picture in pictures:
            ffmpeg.stdin.write(np.ascontiguousarray(picture).data)
    _, message = ffmpeg.communicate()
    return message.decode(errors="replace").strip().partition("\n")[0]


def _timing(
    stage: Stage, seconds_per_step: float, every: int | None, most_per_second: int
) -> tuple[list[int], float]:
    """The steps to show, including the last, and the seconds of each."""
    if every is None:
        every = max(1, round(1 / (most_per_second * seconds_per_step)))
    if every < 1:
        raise ValueError(f"every must be at least 1, not {every}.")
    steps = [*range(0, stage.length, every), stage.length]
    return steps, every * seconds_per_step


def _pictures(stage: Stage, steps: list[int], on_frame: OnFrame) -> Iterator[Picture]:
    for done, step in enumerate(steps, start=1):
        yield stage.picture(step)
        on_frame(done, len(steps))


def _with_one_palette(stage: Stage, pictures: Iterator[Picture]) -> Iterator[Image.Image]:
    """Pictures in one palette, from three of them: no flicker, and a small file."""
    samples = [stage.picture(step) for step in (0, stage.length // 2, stage.length)]
    palette = Image.fromarray(np.concatenate(samples)).quantize(_COLOURS)
    for picture in pictures:
        yield Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
