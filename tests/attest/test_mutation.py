"""The mutation score on disk: bound to the files it speaks of, and read by nobody who decides."""

from __future__ import annotations

import datetime
import json
import os
from dataclasses import replace

import pytest

from simulacrum.attest.gate import gate_state
from simulacrum.attest.mutation import BATTERY_CHANGED, Score, digests, now, read_score, write_score
from simulacrum.attest.places import partial_place
from simulacrum.attest.report import add_score, read_report, write_report
from simulacrum.contract.digest import package_files
from simulacrum.errors import ReportError


def score_of(package, **changes):
    own, battery = digests(package)
    score = Score(
        env_id=package.env_id, killed=9, counted=10, planted=40, sampled=40, seconds=12.0, finished=now(), package=own,
        battery=battery,
        summary={"total": {"killed": 9}, "kinds": {"K01": {"score": "9/10", "killed": 9}}, "survivors": ["12345678"]},
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


def test_a_report_states_the_score_that_lies_there_for_the_same_files(package, make_report):
    write_score(package, score_of(package))
    stated = read_report(write_report(package, make_report())).mutation_score
    assert stated["score"] == "9/10"
    assert (stated["kinds"], stated["survivors"]) == ({"K01": "9/10"}, ["12345678"])


def test_a_score_comes_into_the_report_that_lies_there_and_nothing_else_of_it_changes(package, make_report):
    path = write_report(package, make_report())
    before, name = json.loads(path.read_text()), read_report(path).seal
    assert "mutation_score" not in before
    assert add_score(package) == []  # there is none yet
    write_score(package, score_of(package))
    assert add_score(package) == [path]
    after = json.loads(path.read_text())
    assert after.pop("mutation_score")["score"] == "9/10"
    assert after == before
    assert read_report(path).seal == name
    assert gate_state(package).fresh


def test_a_new_run_keeps_the_score_in_the_report(package, make_report):
    write_report(package, make_report())
    write_score(package, score_of(package))
    add_score(package)
    assert read_report(write_report(package, make_report())).mutation_score["score"] == "9/10"


@pytest.mark.parametrize("other", ["package", "battery"])
def test_a_score_of_other_files_comes_into_no_report(package, make_report, other):
    write_score(package, replace(score_of(package), **{other: "0" * 64}))
    path = write_report(package, make_report())
    assert add_score(package) == []
    assert read_report(path).mutation_score is None


def test_a_report_on_other_files_is_left_alone(package, make_report):
    path = write_report(package, make_report())
    with (package.folder / "spec.md").open("a") as file:
        file.write("\n")
    write_score(package, score_of(package))
    before = path.read_bytes()
    assert add_score(package) == []
    assert path.read_bytes() == before


def test_a_damaged_report_and_that_of_a_partial_run_are_left_alone(package, make_report):
    write_report(package, make_report(full=False))
    (package.folder / "validation_report.json").write_text("{")
    write_score(package, score_of(package))
    assert add_score(package) == []
    assert read_report(partial_place(package)).mutation_score is None
    assert (package.folder / "validation_report.json").read_text() == "{"


def test_a_score_of_another_form_is_damage_though_the_seal_leaves_it_out(package, make_report):
    write_score(package, score_of(package))
    path = write_report(package, make_report())
    body = json.loads(path.read_text())
    body["mutation_score"]["killed"] = "all"
    path.write_text(json.dumps(body))
    with pytest.raises(ReportError, match="mutation_score"):
        read_report(path)
