"""`simulacrum explain`: what it prints for people and for programs."""

from __future__ import annotations

import json

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
