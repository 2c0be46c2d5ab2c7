"""Points with their errors, and the stretch that is shaded."""

from __future__ import annotations

from simulacrum.plots import Measurement, points


def test_series_have_points_and_errors(tmp_path, look):
    path = tmp_path / "points.png"
    every = [
        Measurement("trained in one wind", [0.0, 0.1, 0.2], [9.0, 8.0, 5.0], [0.1, 0.2, 0.3]),
        Measurement("trained in many", [0.0, 0.1, 0.2], [8.5, 8.2, 7.5], [0.1, 0.1, 0.2]),
    ]
    points(path, every, title="forager", x_label="wind", y_label="mean return", span=(0.0, 0.15, "random range"))
    (axes,) = look(path).axes
    assert [one.get_text() for one in axes.get_legend().get_texts()] == [
        "random range",
        "trained in one wind",
        "trained in many",
    ]
    first = axes.containers[0]
    assert list(first.lines[0].get_ydata()) == every[0].means
    (bars,) = first.lines[2]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[8.9, 9.1], [7.8, 8.2], [4.7, 5.3]]
