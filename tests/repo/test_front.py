"""The front door: the README's picture is made of a run, and its figures stand where they were measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import front_picture

from simulacrum.plots import style


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> front_picture.Story:
    return front_picture.story(tmp_path_factory.mktemp("front"))


@pytest.fixture(scope="module")
def kept() -> Iterator[Image.Image]:
    with Image.open(front_picture.OUT) as image:
        yield image


@pytest.fixture(scope="module")
def frames(told: front_picture.Story) -> list[Image.Image]:
    return front_picture.pictures(told)


def test_the_twins_part_by_one_ulp_after_steps_with_equal_bits(told):
    found = told.divergence
    assert (found.difference.path, found.difference.ulp, found.rule.id) == ("state.energy", 1, "R11")
    assert found.row in told.apart
    assert len(told.apart) == found.counts.rows_differing
    assert len(told.moments) >= 4
    for moment in told.moments[:-1]:
        assert [one.energy for one in moment.reference] == [one.energy for one in moment.batched]


def test_what_the_readme_says_of_the_picture_is_what_happened(told, root):
    text = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    found, values = told.divergence, told.divergence.difference
    assert f"at step {told.moments[-1].step} the energy of row {found.row} is {values.reference.decimal} in the" in text
    assert f"reference and {values.batched.decimal} in the batched twin, one ulp apart" in text
    assert "Six steps have every bit equal" in text
    assert len(told.moments) == 6 + 2  # the reset, and the step that differs


APART = 0.5  # mean difference of a colour, from 0 to 255: 256 colours cost 0.2, one step of the run 0.7 and more


def apart(kept, frame, number):
    """How far a frame of the kept picture is from one that was made now."""
    kept.seek(number)
    drawn, made = (np.asarray(one.convert("RGB"), dtype=int) for one in (kept, frame))
    assert drawn.shape == made.shape == (front_picture.HEIGHT, front_picture.WIDTH, 3)
    return np.abs(drawn - made).mean()


def test_the_kept_picture_is_that_of_the_run(frames, kept):
    assert kept.n_frames == len(frames)
    for number, frame in enumerate(frames):
        assert apart(kept, frame, number) < APART, f"frame {number}: run python tools/front_picture.py"


def test_a_frame_of_another_step_would_be_caught(frames, kept):
    for number in range(len(frames)):
        assert apart(kept, frames[number - 1], number) >= APART


def test_the_picture_is_small_lies_on_paper_and_ends_in_its_verdict(kept):
    assert front_picture.OUT.stat().st_size < 300_000
    for number in range(kept.n_frames):
        kept.seek(number)
        image = kept.convert("RGB")
        corners = {image.getpixel((x, y)) for x in (0, image.width - 1) for y in (0, image.height - 1)}
        assert corners == {(255, 255, 255)}
        wrong = tuple(int(style.VERMILLION[at : at + 2], 16) for at in (1, 3, 5))
        assert (wrong in {color for _, color in image.getcolors(1 << 20)}) == (number == kept.n_frames - 1)


def test_who_wants_less_motion_sees_the_last_frame(kept, root):
    kept.seek(kept.n_frames - 1)
    with Image.open(front_picture.OUT.with_suffix(".png")) as still:
        assert np.array_equal(np.asarray(still.convert("RGB")), np.asarray(kept.convert("RGB")))
    for page, folder in (("README.md", "docs/assets"), ("docs/index.md", "assets")):
        text = (root / page).read_text(encoding="utf-8")
        source = f'<source media="(prefers-reduced-motion: reduce)" srcset="{folder}/front.png">'
        assert f'<picture>\n{source}\n<img src="{folder}/front.gif" alt="' in text


def test_a_changed_line_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(front_picture, "BEFORE", "state.energy - STEP_ENERGY * gain")
    with pytest.raises(SystemExit, match="0 times; it is to be there once"):
        front_picture.story(tmp_path)


# A figure of the README, and the line of the docs that it stands in.
FIGURES = {
    "228 of 228": ("mutation.md", "| toywalk | `mutate toywalk` |"),
    "71.9 M": ("benchmarks.md", "| native | 4.91 M (7.11 M) |"),
    "4.91 M": ("benchmarks.md", "| native | 4.91 M (7.11 M) | 71.9 M"),
    "35.2 M": ("benchmarks.md", "| C by hand | 19.8 M"),
    "19.8 M": ("benchmarks.md", "| C by hand | 19.8 M"),
    "11.8 M": ("benchmarks.md", "| Gymnasium CartPoleVectorEnv | 700 k"),
    "700 k": ("benchmarks.md", "| Gymnasium CartPoleVectorEnv | 700 k"),
    "8.66 ± 0.10": ("training.md", "| `python training/ppo.py --seed 1` |"),
    "8.51": ("training.md", "| greedy, scripted |"),
    "8.77": ("training.md", "| best possible: `python training/forager_optimum.py` |"),
}


def test_the_figures_are_those_of_the_docs(root):
    section = (root / "README.md").read_text(encoding="utf-8").split("## Figures")[1].split("## ")[0]
    cells = " ".join(row.split("|")[2] for row in section.splitlines() if row.startswith("|"))
    named = re.findall(r"\d+ of \d+|\d+(?:\.\d+)?(?: ± \d+\.\d+| [kM]\b)?", cells)
    assert sorted(named) == sorted(FIGURES)
    for figure, (page, start) in FIGURES.items():
        lines = (root / "docs" / page).read_text(encoding="utf-8").splitlines()
        assert any(line.startswith(start) and figure in line for line in lines), (figure, page)
