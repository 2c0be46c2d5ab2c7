"""Transfer: dots by side, intervals beside the margin, and the rates of studies."""

from __future__ import annotations

import pytest

from simulacrum.plots import Interval, Rates, Returns, rates, transfer
from simulacrum.plots.style import BLUE, GREEN, VERMILLION

RETURNS = [
    Returns("batched", "batched", [5.0, 5.2, 4.9]),
    Returns("batched", "reference", [5.0, 5.1, 4.9]),
    Returns("reference", "reference", [5.1, 5.2, 4.8]),
    Returns("reference", "batched", [5.1, 5.3, 4.8]),
]
INTERVALS = [
    Interval("trained", -0.2, 0.05, 0.3, "equivalent; power 0.98, n = 3 and 3"),
    Interval("judged", -0.9, 0.0, 0.1, "not shown; power 0.20, n = 3 and 3"),
]


def test_a_study_is_its_dots_and_its_intervals(tmp_path, look):
    path = tmp_path / "transfer.png"
    transfer(path, RETURNS, INTERVALS, margin=0.5, level=0.9, title="simulacrum/x-v0: not shown")
    dots, intervals = look(path).axes
    columns = dots.get_lines()
    assert [list(line.get_ydata()) for line in columns[::2]] == [one.means for one in RETURNS]
    assert [line.get_color() for line in columns[::2]] == [BLUE, BLUE, VERMILLION, VERMILLION]
    assert columns[1].get_ydata()[0] == pytest.approx(sum(RETURNS[0].means) / 3)
    edges = [line.get_xdata()[0] for line in intervals.get_lines() if line.get_color() == GREEN]
    assert edges == [-0.5, 0.5]
    assert "90% interval" in intervals.get_xlabel()
    told = {text.get_text(): text.xy for text in intervals.texts}
    assert told == {INTERVALS[0].text: (0.05, 1), INTERVALS[1].text: (0.0, 0)}


def test_rates_have_markers_that_are_measured_on_lines_that_are_expected(tmp_path, look):
    path = tmp_path / "rates.png"
    every = [
        Rates("5 trainings a twin", [0.0, 0.5, 1.0], [0.7, 0.5, 0.05], [0.72, 0.51, 0.05]),
        Rates("10 trainings a twin", [0.0, 0.5, 1.0], [0.99, 0.8, 0.05], [0.98, 0.81, 0.05]),
    ]
    rates(path, every, level=0.05, title="toywalk\nmarkers: measured")
    (axes,) = look(path).axes
    assert [one.get_text() for one in axes.get_legend().get_texts()] == [one.label for one in every]
    expected, measured = axes.get_lines()[:2]
    assert (list(expected.get_ydata()), list(measured.get_ydata())) == (every[0].expected, every[0].measured)
    assert (measured.get_linestyle(), expected.get_marker()) == ("None", "None")
