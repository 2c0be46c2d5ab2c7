"""Speed against rows, of the benchmark that the docs show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulacrum.plots import Panel, Speed, throughput
from simulacrum.plots.style import SERIES

ASSETS = Path(__file__).parents[2] / "docs" / "assets"


@pytest.fixture
def measured() -> list[Panel]:
    """Eager and native of every environment, with the windows' spread, as they were measured."""
    groups = json.loads((ASSETS / "benchmarks.json").read_text())["growth"]["rows"]
    panels: dict[str, dict[str, list[tuple[int, list[float]]]]] = {}
    for group in groups:
        for one in group["contenders"]:
            if one["name"] in ("eager", "native"):
                rates = sorted(
                    group["num_envs"] * one["steps_per_call"] * calls / cpu for calls, _, cpu in one["windows"]
                )
                forms = panels.setdefault(group["environment"], {})
                forms.setdefault(one["name"], []).append((group["num_envs"], rates))
    return [
        Panel(name, [
            Speed(form, [n for n, _ in of], [rates[len(rates) // 2] for _, rates in of], [rates[0] for _, rates in of],
                  [rates[-1] for _, rates in of])
            for form, of in forms.items()
        ])
        for name, forms in panels.items()
    ]  # fmt: skip


def test_each_environment_has_a_panel_with_both_axes_logarithmic(tmp_path, look, measured):
    assert len(measured) >= 3
    path = tmp_path / "speed.png"
    throughput(path, measured)
    figure = look(path)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [panel.title for panel in measured]
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes} == {("log", "log")}
    assert [one.get_text() for one in figure.legends[0].get_texts()] == ["eager", "native"]
    eager, native = figure.axes[0].get_lines()
    assert list(native.get_ydata()) == list(measured[0].lines[1].values)
    assert native.get_ydata()[-1] > 10 * eager.get_ydata()[-1]
    assert len(figure.axes[0].collections) == 2  # the bands


def test_a_number_keeps_a_line_as_it_looks_elsewhere(tmp_path, look):
    lines = [Speed("a", [1, 64], [1e3, 1e5]), Speed("b", [1, 64], [2e3, 2e5], number=0), Speed("c", [64], [3e3])]
    path = tmp_path / "speed.png"
    throughput(path, [Panel("x", lines, marks=[(8.0, "L1")])])
    (axes,) = look(path).axes
    colors = {line.get_color() for line in axes.get_lines()[:3]}
    assert axes.get_lines()[1].get_color() == SERIES[0]
    assert len(colors) == 3
    assert " L1" in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize(
    ("sizes", "shown"), [([1, 64, 1024], ["1", "64", "1,024"]), ([1, 1_048_576], None), (list(range(1, 9)), None)]
)
def test_few_sizes_are_named_and_many_are_powers_of_two(tmp_path, look, sizes, shown):
    path = tmp_path / "speed.png"
    throughput(path, [Panel("x", [Speed("a", sizes, [float(size) for size in sizes])])])
    (axes,) = look(path).axes
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == shown if shown else any("2^{" in tick for tick in ticks)
