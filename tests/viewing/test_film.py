"""Films of episodes."""

from pathlib import Path

import imageio.v3 as imageio
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.envs import make
from pairvdn.evaluation import Film, film_greedy, film_random
from pairvdn.experiment import load_preset
from pairvdn.viewing.film import write_gif


@pytest.fixture(scope="module")
def film() -> Film:
    return film_random(make("box-jump", num_boxes=2, max_steps=9), seed=0)


def test_a_film_begins_at_the_reset_and_has_every_step(film: Film) -> None:
    assert film.observations.shape == (10, 2, 13)
    assert int(film.length) == 9
    assert float(film.rewards[0]) == 0.0
    time = film.observations[:, 0, -1]
    assert np.allclose(time, np.arange(10) / 9)


def test_a_gif_has_a_frame_every_so_many_steps(film: Film, tmp_path: Path) -> None:
    path = write_gif(film, tmp_path / "new" / "film.gif", every=3, height=40, width=60)
    assert imageio.imread(path).shape == (4, 40, 60, 3)
    with pytest.raises(ValueError, match="every must be at least 1"):
        write_gif(film, path, every=0)


def test_a_film_stands_still_after_the_end() -> None:
    config = load_preset("climbing/vdn")
    value = config.build().make_value(key=jax.random.key(0))
    film = film_greedy(config.env.build(), value, seed=0)
    assert int(film.length) == 1
    assert jnp.array_equal(film.observations[-1], film.observations[1])
