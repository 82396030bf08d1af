"""Films of episodes."""

from pathlib import Path

import imageio.v3 as imageio
import pytest

from pairvdn.envs import make
from pairvdn.evaluation import Recording, record_random
from pairvdn.viewing.film import write_gif
from pairvdn.viewing.raster import draw


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_random(make("box-jump", num_boxes=2, max_steps=9), seed=0)[0]


def test_a_gif_has_a_frame_every_so_many_steps(recording: Recording, tmp_path: Path) -> None:
    path = write_gif(recording, tmp_path / "new" / "film.gif", every=3, height=40, width=60)
    assert imageio.imread(path).shape == (4, 40, 60, 3)
    with pytest.raises(ValueError, match="every must be at least 1"):
        write_gif(recording, path, every=0)


def test_a_recorded_episode_drawn_twice_is_the_same(recording: Recording, tmp_path: Path) -> None:
    first, second = (
        [draw(recording.scene(step), height=60, width=90).tobytes() for step in range(10)]
        for _ in range(2)
    )
    assert first == second
    assert first[0] != first[9]
    files = [
        write_gif(recording, tmp_path / name, height=40, width=60) for name in ("a.gif", "b.gif")
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
