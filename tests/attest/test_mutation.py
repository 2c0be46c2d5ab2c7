"""The mutation score on disk: bound to the files it speaks of, and read by nobody who decides."""

from __future__ import annotations

import datetime
import json
import os
from dataclasses import replace

import pytest

from simulacrum.attest.mutation import BATTERY_CHANGED, Score, digests, now, read_score, write_score
from simulacrum.contract.digest import package_files


def score_of(package, **changes):
    own, battery = digests(package)
    score = Score(
        env_id=package.env_id, killed=9, counted=10, planted=40, sampled=40, seconds=12.0, finished=now(), package=own,
        battery=battery, summary={"total": {"killed": 9}},
    )  # fmt: skip
    return replace(score, **changes)


def test_a_score_is_read_as_it_was_written(package):
    path = write_score(package, score_of(package))
    assert path == package.folder / "mutation_score.json"
    known = read_score(package)
    assert known.score == score_of(package, finished=known.score.finished)
    assert (known.why, known.stale, known.score.text) == ("", False, "9/10")


def test_a_package_without_one_has_none(package):
    assert read_score(package) is None


def test_an_edit_of_the_package_makes_it_stale(package):
    write_score(package, score_of(package))
    with (package.folder / "fast.py").open("a") as file:
        file.write("# another line\n")
    assert read_score(package).stale


def test_another_battery_is_said_and_is_not_stale(package):
    write_score(package, score_of(package, battery="0" * 64))
    known = read_score(package)
    assert (known.why, known.stale) == (BATTERY_CHANGED, False)


def test_neither_the_score_nor_reasons_in_writing_are_judged_files(package):
    before = set(package_files(package.folder))
    write_score(package, score_of(package))
    (package.folder / "mutants.json").write_text("{}")
    assert set(package_files(package.folder)) == before


@pytest.mark.parametrize("content", ["", "[]", '{"format": "other", "version": 1}', '{"format": 1'])
def test_what_cannot_be_read_is_no_score(package, content):
    (package.folder / "mutation_score.json").write_text(content)
    assert read_score(package) is None


def test_a_folder_that_cannot_be_written_leaves_the_state_folder(package, monkeypatch):
    from simulacrum.attest import mutation

    real = mutation.replace_file

    def refuse(path, data):
        if path.parent == package.folder:
            raise PermissionError(13, "no rights")
        real(path, data)

    monkeypatch.setattr(mutation, "replace_file", refuse)
    path = write_score(package, score_of(package))
    assert str(path).startswith(os.environ["SIMULACRUM_STATE_DIR"])
    assert read_score(package).path == path


def test_a_sample_says_of_how_many(package):
    assert score_of(package, sampled=10).text == "9/10 of 40"


@pytest.mark.parametrize(("back", "age"), [(30, "now"), (150, "2 min"), (7_300, "2 h"), (3 * 86_400 + 5, "3 d")])
def test_ages_are_told_in_one_unit(package, back, age):
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=back)
    write_score(package, score_of(package, finished=then.isoformat(timespec="seconds")))
    assert read_score(package).age == age
    assert json.loads((package.folder / "mutation_score.json").read_text())["killed"] == 9
