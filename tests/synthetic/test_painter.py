import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.synthetic.garments.fabrics import Cloth, albedo, wave
from eds.synthetic.garments.painter import Camera, enlarged, fill, paint, shifted
from eds.synthetic.garments.shapes import Piece, box, ellipse, flipped, line, mirrored, path, ribbon, ring

angles = st.floats(-0.5, 0.5)


@given(angles, st.floats(0.7, 1.0), st.floats(-0.2, 0.2), st.booleans())
def test_unproject_is_the_way_back_of_project(turn: float, squeeze: float, lean: float, mirror: bool) -> None:
    camera = Camera(size=64, zoom=40.0, turn=turn, squeeze=squeeze, lean=lean, mirror=mirror, centre=(0.4, 0.6))
    u, v = camera.unproject(3, 5, 20, 10)
    places = np.stack([u.ravel(), v.ravel()], axis=1).astype(np.float64)
    x, y = np.meshgrid(np.arange(3, 23) + 0.5, np.arange(5, 15) + 0.5)
    np.testing.assert_allclose(camera.project(places), np.stack([x.ravel(), y.ravel()], axis=1), atol=0.04)


@given(st.integers(4, 60), st.integers(4, 60))
def test_a_slope_is_enlarged_to_the_same_slope(width: int, height: int) -> None:
    x, y = np.meshgrid(np.arange(-(-width // 4)) * 4 + 1.5, np.arange(-(-height // 4)) * 4 + 1.5)
    wide = enlarged((2 * x - 3 * y).astype(np.float32), width, height)
    u, v = np.meshgrid(np.arange(width), np.arange(height))
    inside = (u >= 2) & (u <= x.max()) & (v >= 2) & (v <= y.max())  # beyond the outer cells' middles it is level
    assert wide.shape == (height, width)
    np.testing.assert_allclose(wide[inside], (2 * u - 3 * v)[inside], atol=1e-3)


def test_cells_of_a_window_lie_in_the_middle_of_their_pixels() -> None:
    camera = Camera(size=64, zoom=40.0, turn=0.2, squeeze=0.9)
    fine, coarse = camera.unproject(4, 8, 16, 8), camera.unproject(4, 8, 16, 8, step=4)
    for plane, cells in zip(fine, coarse, strict=True):
        np.testing.assert_allclose(plane.reshape(2, 4, 4, 4).mean(axis=(1, 3)), cells, atol=1e-5)


def test_a_mask_covers_the_area_of_its_outline() -> None:
    covered = np.asarray(fill([ellipse(32, 32, 20, 12)], 0, 0, 64, 64), dtype=np.float64).sum() / 255
    assert covered == pytest.approx(np.pi * 20 * 12, rel=0.05)


def test_painting_stays_inside_the_outline_and_its_shadow() -> None:
    canvas = np.full((3, 64, 64), 200.0, dtype=np.float32)
    cloths = {"main": Cloth((20, 90, 160), (255, 255, 255))}
    paint(canvas, [Piece((box(-0.2, 0.8, 0.2, 1.2),), lift=0.0)], cloths, Camera(size=64, zoom=32.0))
    changed = np.argwhere(np.abs(canvas - 200).max(axis=0) > 1)
    assert (changed.min(axis=0) >= 24).all()
    assert (changed.max(axis=0) <= 40).all()
    assert canvas[2, 32, 32] > canvas[1, 32, 32] > canvas[0, 32, 32]


def test_what_lies_outside_the_picture_is_left_out() -> None:
    canvas = np.full((3, 32, 32), 200.0, dtype=np.float32)
    paint(canvas, [Piece((box(5, 5, 6, 6),))], {"main": Cloth((0, 0, 0), (0, 0, 0))}, Camera(size=32, zoom=16.0))
    assert (canvas == 200).all()


def test_later_pieces_cover_earlier_ones() -> None:
    cloths = {"main": Cloth((250, 0, 0), (0, 0, 0)), "trim": Cloth((0, 0, 250), (0, 0, 0))}
    square = (box(-0.5, 0.5, 0.5, 1.5),)
    canvas = np.zeros((3, 32, 32), dtype=np.float32)
    paint(canvas, [Piece(square, "main"), Piece(square, "trim")], cloths, Camera(size=32, zoom=16.0))
    assert canvas[2, 16, 16] > 150 > canvas[0, 16, 16]


def test_shifting_repeats_the_rim_and_does_not_wrap() -> None:
    plane = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(shifted(plane, 1, 0)[0], [0, 0, 1, 2])
    np.testing.assert_array_equal(shifted(plane, 0, -1)[:, 0], [4, 8, 8])


def test_the_sine_table_is_a_sine() -> None:
    turns = np.linspace(-3, 3, 500, dtype=np.float32)
    np.testing.assert_allclose(wave(turns), np.sin(2 * np.pi * turns), atol=0.008)


@pytest.mark.parametrize(("pattern", "share"), [("stripes", 0.45), ("dots", np.pi * 0.26**2), ("checks", 0.5)])
def test_patterns_show_their_share_of_the_accent(pattern: str, share: float) -> None:
    cloth = Cloth((0, 0, 0), (100, 100, 100), pattern=pattern, period=0.2)
    u, v = Camera(size=200, zoom=100.0).unproject(0, 0, 200, 200)
    assert albedo(cloth, u, v, 100.0)[0].mean() == pytest.approx(100 * share, rel=0.05)


def test_outlines() -> None:
    half = path((0.0, 0.0), (1.0, 0.0), (1.5, 0.5, 1.0, 1.0), (0.8, 1.2, 0.4, 1.2, 0.0, 1.0))
    assert half[-1].tolist() == [0.0, 1.0]
    whole = mirrored(half)
    np.testing.assert_allclose(np.sort(whole[:, 0]), np.sort(flipped(whole)[:, 0]))
    band = ribbon(line((0.0, 0.0), (1.0, 0.0)), 0.2)
    assert np.abs(band[:, 1]).max() == pytest.approx(0.1)
    frame = np.asarray(fill([ring(10, 10, 50, 50, 8)], 0, 0, 64, 64))
    assert frame[30, 30] == 0
    assert frame[30, 14] == 255
