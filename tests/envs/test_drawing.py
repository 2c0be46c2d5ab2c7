"""The shapes that several packages' drawings share: where they paint, and where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from simulacrum_envs._drawing.shapes import bar


def test_a_disc_has_its_area() -> None:
    canvas = np.zeros((40, 50, 3), np.float32)
    bar(canvas, (20.0, 25.0), (20.0, 25.0), 9.0, (100, 100, 100))
    assert canvas[20, 25].tolist() == [100, 100, 100]
    assert canvas[:, :, 0].sum() / 100 == pytest.approx(np.pi * 81, rel=0.01)


def test_a_bar_has_the_area_of_a_rectangle_and_a_disc_however_it_is_turned() -> None:
    for end in ((10.0, 40.0), (34.0, 28.0)):
        canvas = np.zeros((50, 60, 3), np.float32)
        bar(canvas, (10.0, 10.0), end, 4.0, (100, 0, 0))
        length = np.hypot(end[0] - 10.0, end[1] - 10.0)
        assert canvas[:, :, 0].sum() / 100 == pytest.approx(8 * length + np.pi * 16, rel=0.01)


def test_what_is_outside_is_cut_off() -> None:
    canvas = np.zeros((20, 20, 3), np.float32)
    bar(canvas, (-50.0, -50.0), (-40.0, -60.0), 5.0, (100, 100, 100))
    bar(canvas, (10.0, 90.0), (10.0, 95.0), 5.0, (100, 100, 100))
    assert not canvas.any()
    bar(canvas, (0.0, 0.0), (0.0, 0.0), 5.0, (100, 100, 100))
    assert canvas[:, :, 0].sum() / 100 == pytest.approx(np.pi * 25 / 4, rel=0.05)


def test_strength_is_how_much_it_covers() -> None:
    canvas = np.full((20, 20, 3), 200, np.float32)
    bar(canvas, (10.0, 10.0), (10.0, 10.0), 5.0, (100, 0, 200), strength=0.25)
    assert canvas[10, 10].tolist() == [175, 150, 200]
