"""The page that says how the project tests itself: its counts are those of the files, and its places exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import how_we_test

LAG = 0.2  # the share by which a count may lag behind the files before the page is to be written again


@pytest.fixture(scope="module")
def rows():
    return how_we_test.counted()


def stale(page, rows):
    """What of the page's rows is not what the files have."""
    if [(what, where) for what, _, where in page] != [(what, where) for what, _, where in rows]:
        return ["the rows are others"]
    return [
        f"{what}: {said}, now {count}"
        for (what, said, _), (_, count, _) in zip(page, rows, strict=True)
        if abs(said - count) > max(3, LAG * count)
    ]


def test_the_page_has_what_the_command_counts(rows):
    assert stale(how_we_test.shown(), rows) == [], "run: python tools/how_we_test.py --write"


def test_a_count_that_is_made_up_is_caught(rows):
    (what, count, where), *others = rows
    assert stale([(what, 2 * count, where), *others], rows) == [f"{what}: {2 * count}, now {count}"]
    assert stale(others, rows) == ["the rows are others"]


def test_what_is_written_is_what_is_read(rows, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{how_we_test.BEGIN}\nstood before\n{how_we_test.END}\nafter\n", encoding="utf-8")
    how_we_test.write(rows, page)
    assert how_we_test.shown(page) == rows
    how_we_test.write(rows, page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "stood before" not in text


def test_a_page_without_a_place_for_the_counts_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="has no lines"):
        how_we_test.shown(page)


def test_counts_are_of_this_project(rows):
    counts = {what: count for what, count, _ in rows}
    assert counts["of the rooms that are folders, those with a folder of tests"] == counts["rooms that are folders"]
    assert counts["kinds of fault that `simulacrum mutate` plants"] == 24
    here = [node.name for path, node in how_we_test.test_functions(Path(__file__).parent) if path == Path(__file__)]
    assert "test_counts_are_of_this_project" in here
    assert "stale" not in here


def test_places_that_the_page_names_exist(root):
    text = how_we_test.PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|simulacrum|tools|docs|envs)/[\w/.-]*)`", text))
    assert len(named) > 8
    places = [name for name in named if not re.search(r"[A-Z]{2}", name)]
    assert [name for name in places if not (root / name).exists()] == []
