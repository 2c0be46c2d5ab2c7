"""Learning curves: the lines, the bands, the units, and what stands beside them."""

from __future__ import annotations

import math

import pytest

from simulacrum.plots import Curve, Setting, learning_curves, run_curve, sweep
from simulacrum.plots.style import BLUE, MUTED, VERMILLION

STEPS = [10_000.0 * k for k in range(51)]


def rising(top: float, slow: float = 1e5) -> list[float]:
    return [top * (1 - math.exp(-step / slow)) for step in STEPS]


def texts(axes) -> list[str]:
    return [one.get_text() for one in axes.get_legend().get_texts()]


def test_curves_have_their_spread_their_ends_and_their_level(tmp_path, look):
    curves = [
        Curve("PPO (2 runs)", STEPS, rising(10), rising(9), rising(11), ends=[(5e5, 9.0), (5e5, 11.0)]),
        Curve("DQN (1 run)", STEPS, rising(8, 2e5)),
    ]
    path = tmp_path / "curves.png"
    learning_curves(path, curves, title="simulacrum/x-v0", levels=[("published", 9.5)], note="markers: in the end")
    (axes,) = look(path).axes
    assert texts(axes) == ["PPO (2 runs)", "DQN (1 run)", "9.5: published"]
    assert axes.get_xlabel() == "environment steps (thousands); markers: in the end"
    first, ends, second, level = axes.get_lines()
    assert list(first.get_xdata()) == [step / 1e3 for step in STEPS]
    assert list(ends.get_ydata()) == [9.0, 11.0]
    assert (first.get_color(), second.get_color(), level.get_color()) == (BLUE, VERMILLION, MUTED)
    (band,) = axes.collections
    assert band.get_datalim(axes.transData).y1 == pytest.approx(max(rising(11)))


def test_learners_are_thin_lines_around_their_mean(tmp_path, look):
    nothing_yet = [math.nan, *rising(6)[1:]]
    curves = [Curve("learning rate 0.001", STEPS, rising(5), each=[rising(4), nothing_yet])]
    path = tmp_path / "learners.png"
    learning_curves(path, curves, title="2 learners", x_label="steps of each", y_label="mean return, last 10")
    (axes,) = look(path).axes
    assert [line.get_linewidth() for line in axes.get_lines()] == [0.8, 0.8, 2.0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps of each (thousands)", "mean return, last 10")


def test_a_run_is_shown_whole_and_near_the_best(tmp_path, look):
    path = tmp_path / "run.png"
    run_curve(
        path, list(zip(STEPS, rising(10), strict=True)), title="PPO on x, seed 1", learning="PPO while it learns",
        reached=("PPO, trained", 9.9), others=[("greedy, scripted", 8.0), ("random, scripted", 1.0)],
    )  # fmt: skip
    whole, close = look(path).axes
    assert texts(whole) == [
        "PPO while it learns",
        "PPO, trained: 9.90",
        "greedy, scripted: 8.00",
        "random, scripted: 1.00",
    ]
    low, high = close.get_ylim()
    assert 9 < low < 9.9 < high < 10.5


@pytest.mark.parametrize("points", [[], [(100.0, 3.0)]])
def test_a_run_without_episodes_is_drawn_all_the_same(tmp_path, look, points):
    path = tmp_path / "run.png"
    run_curve(path, points, title="x", learning="learning", reached=("trained", 3.0))
    whole, _ = look(path).axes
    assert whole.get_xlabel() == "environment steps"


def test_a_sweep_shows_the_best_and_the_usual_before_the_others(tmp_path, look):
    points = [list(zip(STEPS, rising(top), strict=True)) for top in (10, 8, 5)]
    settings = [
        Setting(3e-3, "best: learning_rate 0.003", [points[0]], [9.9]),
        Setting(1e-3, None, [points[1]], [7.9]),
        Setting(2e-3, "ppo.py's own: learning_rate 0.002", [points[2]], [4.9]),
    ]
    path = tmp_path / "sweep.png"
    sweep(path, settings, title="ppo.py on x", searched="learning rate")
    figure = look(path)
    left, right = figure.axes
    assert [one.get_text() for one in figure.legends[0].get_texts()] == [settings[2].label, settings[0].label]
    assert [line.get_color() for line in left.get_lines()] == [VERMILLION, MUTED, BLUE]
    assert sorted(float(line.get_ydata()[0]) for line in right.get_lines()) == [4.9, 7.9, 9.9]
