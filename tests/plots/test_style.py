"""The colours as eyes see them, and what a picture's file is."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from colorspacious import cspace_convert
from PIL import Image

from simulacrum.errors import UsageError
from simulacrum.plots import style

# Pages that pictures stand on: GitHub's two, and the two of Material for MkDocs.
LIGHT, DARK = ("#ffffff",), ("#0d1117", "#1e2029")
EYES = ("normal", "protanomaly", "deuteranomaly")
APART = 12.0  # in CAM02-UCS, where 1 is just noticeable; swatches of one hue in a good light differ by less


def seen(colors: tuple[str, ...], eye: str) -> np.ndarray:
    """Colours in CAM02-UCS [n, 3] as an eye sees them, after Machado, Oliveira and Fernandes (2009)."""
    rgb = np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in colors])
    if eye != "normal":
        space = {"name": "sRGB1+CVD", "cvd_type": eye, "severity": 100}
        rgb = np.clip(cspace_convert(rgb, space, "sRGB1"), 0, 1)
    return cspace_convert(rgb, "sRGB1", "CAM02-UCS")


def nearest(colors: tuple[str, ...], eye: str) -> float:
    """The distance of the two colours that are hardest to tell apart."""
    return min(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen(colors, eye), 2))


@pytest.mark.parametrize("eye", EYES)
def test_any_two_colours_are_told_apart(eye):
    assert nearest(style.SERIES, eye) >= APART


def test_a_red_and_a_green_would_be_caught():
    both = ("#c04040", "#5f7f20")
    assert nearest(both, "normal") >= APART
    assert nearest(both, "deuteranomaly") < APART


@pytest.mark.parametrize("color", style.SERIES)
def test_lines_stand_out_on_paper_and_on_dark_pages(color):
    assert min(style.contrast(color, page) for page in (style.PAPER, *LIGHT, *DARK)) >= 3


def test_text_is_read_on_paper_and_would_not_be_on_every_page_without():
    assert style.contrast(style.INK, style.PAPER) >= 7
    assert style.contrast(style.MUTED, style.PAPER) >= 4.5
    greys = [f"#{value:02x}{value:02x}{value:02x}" for value in range(256)]
    best = max(min(style.contrast(grey, page) for page in (*LIGHT, *DARK)) for grey in greys)
    assert best < 4.5


@pytest.mark.parametrize("color", [*style.SERIES, style.MUTED, style.PAPER, style.INK])
def test_numbers_in_bars_are_read(color):
    assert style.contrast(style.ink_on(color), color) >= 4


@pytest.mark.parametrize(("one", "other", "known"), [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48)])
def test_contrast_is_that_of_wcag(one, other, known):
    assert style.contrast(one, other) == style.contrast(other, one) == pytest.approx(known, abs=0.005)


def test_28_lines_look_different():
    assert len({style.look(number) for number in range(28)}) == 28
    assert style.look(28) == style.look(0)


@pytest.mark.parametrize("suffix", style.SUFFIXES)
def test_equal_pictures_are_equal_files(tmp_path, suffix):
    written = []
    for name in ("one", "other"):
        with style.picture(tmp_path / (name + suffix), 3, 2) as figure:
            figure.subplots().plot([1, 2], [3, 4])
        written.append((tmp_path / (name + suffix)).read_bytes())
    assert written[0] == written[1]


def test_a_picture_lies_on_opaque_paper(tmp_path):
    path = tmp_path / "made.png"
    with style.picture(path, 3, 2) as figure:
        figure.subplots()
    image = Image.open(path).convert("RGBA")
    assert image.size == (3 * style.DPI, 2 * style.DPI)
    assert {image.getpixel((x, y)) for x in (0, image.width - 1) for y in (0, image.height - 1)} == {(255,) * 4}


def test_own_settings_of_matplotlib_play_no_part_and_stay(tmp_path):
    paths = [tmp_path / "one.png", tmp_path / "other.png"]
    for path, own in zip(paths, ({}, {"lines.linewidth": 9, "figure.facecolor": "black"}), strict=True):
        with matplotlib.rc_context(own):
            with style.picture(path, 3, 2) as figure:
                figure.subplots().plot([1, 2], [3, 4])
            assert all(matplotlib.rcParams[key] == value for key, value in own.items())
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_cannot_be_drawn_is_refused_before_anything_runs(tmp_path, monkeypatch):
    style.check_picture(None)
    with pytest.raises(UsageError, match=r"\.png or \.svg or \.pdf"):
        style.check_picture(tmp_path / "made.txt")
    with pytest.raises(UsageError, match="folder does not exist"):
        style.check_picture(tmp_path / "nowhere" / "made.png")
    monkeypatch.setattr(style.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs matplotlib") as refused:
        style.check_picture(Path("made.png"))
    assert refused.value.next_step == "pip install 'simulacrum[plots]'"


@pytest.mark.parametrize("module", ["simulacrum.plots", "simulacrum.cli.app", "simulacrum.cli.pictures"])
def test_matplotlib_waits_until_something_is_drawn(module):
    code = f"import sys, {module}; print(sorted({{'matplotlib', 'numpy', 'torch'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")
