import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.envs.scene import Circles, Lines, Rectangles, Scene
from pairvdn.viewing.raster import draw

RED, GREEN = [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]
BOUNDS = jnp.array([-10.0, 0.0, 10.0, 20.0])


def rectangles(centre, size, angle, colour=RED):
    return Rectangles(
        centre=jnp.array([centre]),
        size=jnp.array([size]),
        angle=jnp.array([angle]),
        colour=jnp.array(colour),
        agent=jnp.zeros((1,), jnp.int32),
    )


def circles(centre, radius, colour=RED):
    return Circles(
        centre=jnp.array([centre]),
        radius=jnp.array([radius]),
        colour=jnp.array(colour),
        agent=jnp.zeros((1,), jnp.int32),
    )


def covered(picture):
    """How much of the picture is not white, in pixels, for shapes in pure red."""
    return (1 - picture[:, :, 2] / 255).sum()


def centre_of_mass(picture):
    weight = 1 - picture[:, :, 2] / 255
    rows, columns = np.indices(weight.shape) + 0.5
    return (columns * weight).sum() / weight.sum(), (rows * weight).sum() / weight.sum()


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 2.0])
def test_a_rectangle_has_its_place_and_area(angle):
    picture = draw(Scene(BOUNDS, rectangles([5.0, 5.0], [4.0, 2.0], angle)), height=200, width=200)
    assert picture.shape == (200, 200, 3)
    assert picture.dtype == np.uint8
    assert covered(picture) == pytest.approx(4 * 2 * 10**2, rel=0.01)
    assert centre_of_mass(picture) == pytest.approx((150, 150), abs=0.1)


def test_a_rectangle_turns_counter_clockwise():
    picture = draw(Scene(BOUNDS, rectangles([0.0, 10.0], [12.0, 1.0], 0.5)), height=200, width=200)
    x, y = 100 + 50 * np.cos(0.5), 100 - 50 * np.sin(0.5)  # up is towards row 0
    assert picture[int(y), int(x)].tolist() == [255, 0, 0]
    assert picture[200 - int(y), int(x)].tolist() == [255, 255, 255]


def test_a_circle_has_its_place_and_area():
    picture = draw(Scene(BOUNDS, circles=circles([-3.0, 15.0], 2.0)), height=200, width=200)
    assert covered(picture) == pytest.approx(np.pi * 20**2, rel=0.01)
    assert centre_of_mass(picture) == pytest.approx((70, 50), abs=0.1)


def test_a_line_goes_from_end_to_end():
    lines = Lines(jnp.array([[-8.0, 2.0]]), jnp.array([[6.0, 16.0]]), jnp.array(RED))
    picture = draw(Scene(BOUNDS, lines=lines), height=200, width=200)
    assert covered(picture) == pytest.approx(140 * np.sqrt(2) * 1.5, rel=0.03)
    assert centre_of_mass(picture) == pytest.approx((90, 110), abs=0.1)


def test_later_shapes_cover_earlier_ones():
    lines = Lines(jnp.array([[-5.0, 10.0]]), jnp.array([[5.0, 10.0]]), jnp.array([[0.0, 0.0, 1.0]]))
    below = rectangles([0.0, 10.0], [8.0, 8.0], 0.0)
    picture = draw(
        Scene(BOUNDS, below, circles([0.0, 10.0], 2.0, GREEN), lines), height=200, width=200
    )
    assert picture[100, 70].tolist()[2] > 100  # the line, over the rectangle
    assert picture[90, 100].tolist() == [0, 255, 0]  # the circle, over the rectangle
    assert picture[70, 100].tolist() == [255, 0, 0]


def test_a_wide_picture_does_not_distort():
    scene = Scene(BOUNDS, circles=circles([0.0, 10.0], 5.0))
    picture = draw(scene, height=100, width=300)
    assert covered(picture) == pytest.approx(np.pi * 25**2, rel=0.01)
    assert centre_of_mass(picture) == pytest.approx((150, 50), abs=0.1)


def test_what_is_outside_is_cut():
    inside = draw(Scene(BOUNDS, circles=circles([10.0, 10.0], 3.0)), height=200, width=200)
    outside = draw(Scene(BOUNDS, circles=circles([40.0, -30.0], 3.0)), height=200, width=200)
    assert covered(inside) == pytest.approx(np.pi * 30**2 / 2, rel=0.01)
    assert covered(outside) == 0


def test_drawn_twice_gives_the_same_bytes():
    scene = Scene(BOUNDS, rectangles([1.0, 5.0], [4.0, 2.0], 0.7), circles([2.0, 9.0], 1.3))
    assert draw(scene).tobytes() == draw(scene).tobytes()
    assert draw(scene).shape == (480, 640, 3)


def test_an_empty_picture_is_refused():
    with pytest.raises(ValueError, match="height must be at least 1, not 0"):
        draw(Scene(BOUNDS), height=0)
