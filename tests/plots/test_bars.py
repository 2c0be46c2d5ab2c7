"""Where the time went, of the run that the docs show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulacrum.plots import shares
from simulacrum.plots.style import MUTED

ASSETS = Path(__file__).parents[2] / "docs" / "assets"


def test_a_bar_for_each_row_is_full(tmp_path, look):
    rows = json.loads((ASSETS / "training-breakdown.json").read_text())
    path = tmp_path / "shares.png"
    shares(path, rows, x_label="share of an iteration", y_label="hidden layers")
    figure = look(path)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(rows)
    width = len(axes.patches) // len(rows)
    for place, of in enumerate(rows.values()):
        bars = axes.patches[place * width : (place + 1) * width]
        assert [bar.get_width() for bar in bars] == list(of.values())
        assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(1)
    assert [one.get_text() for one in figure.legends[0].get_texts()] == list(next(iter(rows.values())))
    told = [text.get_text() for text in axes.texts]
    assert f"{rows['64']['learning']:.0%}" in told


def test_the_rest_is_grey_and_a_sliver_has_no_number(tmp_path, look):
    path = tmp_path / "shares.png"
    shares(path, {"one": {"a": 0.02, "b": 0.5, "the rest": 0.48}}, x_label="share", y_label="case")
    from matplotlib.colors import to_hex

    (axes,) = look(path).axes
    assert to_hex(axes.patches[-1].get_facecolor()) == MUTED
    assert [text.get_text() for text in axes.texts] == ["50%", "48%"]
