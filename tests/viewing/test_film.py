"""Films of episodes, and the pictures that they are made of."""

import subprocess
from pathlib import Path

import imageio.v3 as imageio
import imageio_ffmpeg
import jax
import numpy as np
import pytest

from pairvdn.envs import make
from pairvdn.evaluation import Recording, record_random
from pairvdn.viewing.film import write_gif, write_mp4
from pairvdn.viewing.stage import LINE_HEIGHT, Shown, Stage, caption, flowing


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_random(make("simple-spread", max_steps=9), seed=0)[0]


@pytest.fixture(scope="module")
def stage(recording: Recording) -> Stage:
    return Stage([Shown(recording, "random")], width=96)


def test_a_gif_has_a_frame_every_so_many_steps_and_the_last(stage: Stage, tmp_path: Path) -> None:
    drawn = []
    path = write_gif(
        stage,
        tmp_path / "new" / "film.gif",
        seconds_per_step=0.1,
        every=4,
        on_frame=lambda done, total: drawn.append((done, total)),
    )
    assert imageio.imread(path).shape == (4, *stage.picture(0).shape)  # steps 0, 4, 8, 9
    assert drawn == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert imageio.immeta(path, index=1)["duration"] == 400
    with pytest.raises(ValueError, match="every must be at least 1"):
        write_gif(stage, path, seconds_per_step=0.1, every=0)


def test_a_film_lasts_as_long_as_its_episode(stage: Stage, tmp_path: Path) -> None:
    path = write_mp4(stage, tmp_path / "new" / "film.mp4", seconds_per_step=0.1)
    # Not read with imageio, which forks.
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24"]
    read = subprocess.run([*command, "-"], capture_output=True, check=True)
    about = read.stderr.decode()
    assert "h264" in about
    assert " 10 fps" in about
    frames = np.frombuffer(read.stdout, np.uint8).reshape(-1, *stage.picture(0).shape)
    assert len(frames) == 10
    assert np.abs(frames[9].astype(float) - stage.picture(9)).mean() < 5


def test_of_a_quick_clock_only_as_many_frames_as_can_be_shown(stage: Stage, tmp_path: Path) -> None:
    path = write_gif(stage, tmp_path / "film.gif", seconds_per_step=1 / 40)
    assert len(imageio.imread(path)) == 6  # every second step, and the last


def test_what_cannot_be_written_is_an_error(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(OSError, match=r"folder\.mp4"):
        write_mp4(stage, tmp_path / "folder.mp4", seconds_per_step=0.1)


def test_a_recorded_episode_drawn_twice_is_the_same(recording: Recording, tmp_path: Path) -> None:
    stages = [Stage([Shown(recording, "random")], width=96) for _ in range(2)]
    first, second = ([one.picture(step).tobytes() for step in range(10)] for one in stages)
    assert first == second
    assert len(set(first)) == 10
    files = [
        write_gif(one, tmp_path / f"{number}.gif", seconds_per_step=0.1)
        for number, one in enumerate(stages)
    ]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_two_episodes_stand_side_by_side(recording: Recording, stage: Stage) -> None:
    frames = jax.tree.map(lambda leaf: leaf[:5], recording.frames)
    short = Recording(frames, recording.actions[:4], None, action_repeat=1)
    both = Stage([Shown(recording, "random"), Shown(short, "short")], width=96)
    assert both.length == 9
    one, two = stage.picture(9), both.picture(9)
    width = one.shape[1]
    np.testing.assert_array_equal(two[:, :width], one)
    np.testing.assert_array_equal(both.picture(4)[:, width:], two[:, width:])  # it stands still
    with pytest.raises(ValueError, match="at least one episode"):
        Stage([])


def test_what_is_visible_does_not_change_during_an_episode() -> None:
    """Simple Spread's own bounds grow with its agents; a landmark must stay where it is."""
    (recording,) = record_random(make("simple-spread", max_steps=25), seed=3)
    bounds = np.asarray(recording.frames.scene.bounds)
    assert (bounds != bounds[0]).any()
    stage = Stage([Shown(recording, "")], width=200)
    landmark = np.asarray(recording.frames.scene.circles.colour[0, -1])

    def marked(step: int) -> set[tuple[int, int]]:
        near = np.abs(stage.picture(step) / 255 - landmark).max(axis=2) < 0.01
        return {(int(row), int(column)) for row, column in np.argwhere(near)}

    assert marked(0)
    assert marked(0) & marked(recording.length)


def test_a_caption_is_one_line_that_ends_where_the_picture_does() -> None:
    short, long = caption("a\nb", 200), caption(40 * "word ", 200)
    assert short.shape == long.shape == (LINE_HEIGHT, 200, 3)
    assert (short < 128).any()
    assert (long[:, -6:] == 255).all()
    assert not np.array_equal(caption("a", 50), caption("b", 50))
    narrow, wide = (flowing(["one text", "another"], width) for width in (100, 300))
    assert (len(narrow), len(wide)) == (2 * LINE_HEIGHT, LINE_HEIGHT)
