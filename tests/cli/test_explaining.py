"""`simulacrum explain`: what it prints for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

QUICK = ("-k", "differential", "--quick", "--compile", "eager")


@pytest.fixture
def case(cli, counter, edit, own_folders):
    """A failure record of a counter that counts by two."""
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    assert cli("validate", counter, *QUICK).code == 1
    (record,) = [path for path in (own_folders / "failures").glob("*.json") if path.stem.isalnum()]
    return record.relative_to(own_folders)


def test_people_get_all_that_is_needed(cli, counter, case):
    done = cli("explain", case, "--env", counter)
    assert done.code == 0, done.err
    first = done.out.splitlines()[0]
    assert first.startswith("state.count is ")
    assert "DIVERGENCE in differential: simulacrum/counter-v0" in done.out
    assert "R4 spec.md:" in done.out
    assert "\nreference.py\n" in done.out
    assert "count = state.count + 2  # R4" in done.out
    assert "first value that differs on the way: `count` in `step`" in done.out
    assert f"replay   simulacrum replay {case} --env {counter}" in done.out
    assert f"explain  simulacrum explain {case} --env {counter}" in done.out
    assert "\x1b" not in done.out


def test_programs_get_one_object(cli, counter, case):
    done = cli("explain", case, "--env", counter, "--json")
    assert done.code == 0, done.err
    (line,) = done.out.splitlines()
    told = json.loads(line)
    assert (told["format"], told["version"], told["id"]) == ("simulacrum-explanation", 1, case.stem)
    assert told["rules"][0]["id"] == "R4"


def test_a_colour_terminal_says_the_same(cli, counter, case, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = cli("explain", case, "--env", counter)
    assert "\x1b" in done.out
    assert "divergence in" in done.out


def test_a_file_that_is_no_record_is_2(cli, tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    done = cli("explain", path)
    assert done.code == 2
    assert "not a divergence record" in done.err


def test_a_page_is_written_where_it_is_asked_for(cli, counter, case):
    done = cli("explain", case, "--env", counter, "--html", "page.html")
    assert done.code == 0, done.err
    assert done.out == "wrote  page.html\n"
    page = Path("page.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "state.count" in page


def test_a_page_that_cannot_be_written_is_2(cli, counter, case):
    done = cli("explain", case, "--env", counter, "--html", "/proc/nowhere/page.html")
    assert done.code == 2
    assert "/proc/nowhere" in done.err


def test_validate_leaves_a_page_beside_the_record(cli, counter, edit, own_folders):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    done = cli("validate", counter, *QUICK)
    (page,) = (own_folders / "failures").glob("*.html")
    assert page.with_suffix(".json").exists()
    assert f"page    failures/{page.name}" in done.out
    assert done.out.index("DIVERGENCE") < done.out.index("page ")


def test_a_page_that_fails_does_not_hide_the_failure(cli, counter, edit, own_folders, monkeypatch):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")

    def broken(*_):
        raise RuntimeError("no paper")

    monkeypatch.setattr("simulacrum.harness.page.write_page", broken)
    done = cli("validate", counter, *QUICK)
    assert done.code == 1
    assert "result  FAILED: differential" in done.out
    assert "warning: no page of the failure" in done.err
    assert "no paper" in done.err
    assert not list((own_folders / "failures").glob("*.html"))


def test_programs_get_no_page(cli, counter, edit, own_folders):
    edit(counter / "fast.py", "count = state.count + 1", "count = state.count + 2")
    cli("validate", counter, *QUICK, "--json")
    assert not list((own_folders / "failures").glob("*.html"))
