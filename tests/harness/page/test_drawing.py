"""States drawn for a page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import kit
import numpy as np
import pytest
from PIL import Image

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.page.drawing import MOST_SIDE, Artist
from simulacrum.harness.page.png import png

STATE = {"count": 3, "mark": 1}


def test_png_is_read_back_to_the_bit() -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    with Image.open(io.BytesIO(png(image))) as read:
        assert read.mode == "RGB"
        assert np.array_equal(np.asarray(read), image)


def test_a_state_is_an_image_that_needs_no_network() -> None:
    made = Artist(kit.package("counter")).draw(STATE)
    assert made is not None
    assert made.src is not None
    head, _, data = made.src.partition(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as read:
        assert read.size == (made.width, made.height)


@pytest.fixture
def drawn_by(tmp_path: Path):
    def make(source: str) -> EnvPackage:
        from mutants.mutant import copy_env

        folder = copy_env("counter", tmp_path)
        (folder / "render.py").write_text(source, "utf-8")
        return load_package(folder)

    return make


def test_large_images_are_thinned(drawn_by) -> None:
    package = drawn_by("import numpy as np\ndef rgb(state):\n    return np.zeros((2000, 10, 3), np.uint8)\n")
    made = Artist(package).draw(STATE)
    assert made is not None
    assert made.height <= MOST_SIDE


@pytest.mark.parametrize(
    ("source", "field", "told"),
    [
        ("def text(state):\n    return f'<{state.count}>'\n", "text", "<3>"),
        ("def svg(state):\n    return '<svg/>'\n", "src", "data:image/svg+xml;base64,PHN2Zy8+"),
        ("def rgb(state):\n    raise ValueError('no paint')\n", "note", "cannot be drawn: ValueError: no paint"),
        ("x = 1\n", "note", "render.py has neither rgb nor text"),
    ],
)
def test_other_ways_of_drawing(drawn_by, source: str, field: str, told: str) -> None:
    made = Artist(drawn_by(source)).draw(STATE)
    assert getattr(made, field) == told


def test_a_render_module_that_does_not_load_is_a_note(drawn_by) -> None:
    made = Artist(drawn_by("import nothing_of_that_name\n")).draw(STATE)
    assert made is not None
    assert made.note is not None
    assert made.note.startswith("render.py: ")


def test_no_state_is_no_drawing() -> None:
    assert Artist(kit.package("counter")).draw(None) is None
