"""That the other tests here can fail: each fault that they look for is planted once, and found."""

from __future__ import annotations

import pytest

from simulacrum.plots.style import picture


def nothing(axes):
    return


def unnamed(axes):
    axes.set_xlabel("")


def cut(axes):
    axes.set_xlabel("a name that is much too long for so small a picture, and is cut off at both of its ends")


def crossed(axes):
    axes.text(1.5, 3.5, "one text")
    axes.text(1.5, 3.5, "on another")


@pytest.mark.parametrize(
    ("plant", "fault"),
    [(nothing, None), (unnamed, "an x axis has no name"), (cut, "cut off: 'a name"), (crossed, "on each other: 'one")],
)
def test_a_planted_fault_is_found(tmp_path, look, plant, fault):
    path = tmp_path / "made.png"
    with picture(path, 4, 3) as figure:
        axes = figure.subplots()
        axes.plot([1, 2], [3, 4])
        axes.set(xlabel="time", ylabel="value")
        plant(axes)
    if fault is None:
        look(path)
        return
    with pytest.raises(AssertionError, match=fault):
        look(path)
