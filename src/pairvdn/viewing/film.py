"""Episodes as animated pictures."""

from pathlib import Path

from pairvdn.evaluation import Recording
from pairvdn.viewing.raster import draw

try:
    import imageio.v3 as imageio
except ImportError as error:
    raise ImportError("A film needs imageio: pip install 'pairvdn[view]'") from error


def write_gif(
    recording: Recording,
    path: Path,
    *,
    every: int = 4,
    seconds_per_step: float = 1 / 40,
    height: int = 240,
    width: int = 640,
) -> Path:
    """Write every so many steps of an episode, which then lasts as long as the episode does."""
    if every < 1:
        raise ValueError(f"every must be at least 1, not {every}.")
    steps = range(0, recording.length + 1, every)
    frames = [draw(recording.scene(step), height=height, width=width) for step in steps]
    path.parent.mkdir(parents=True, exist_ok=True)
    imageio.imwrite(path, frames, duration=1000 * every * seconds_per_step, loop=0)
    return path
