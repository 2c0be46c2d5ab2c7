"""What counts as a kill, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mutate.kit import GOAL, canary, planted_by_hand

from simulacrum.harness import running
from simulacrum.harness.checks import differential
from simulacrum.harness.small.answers import Answers
from simulacrum.harness.small.nodes import Scalar
from simulacrum.mutate.judge import SMALL_MODEL, Settings, judged, read, required_checks, stages


@pytest.fixture
def settings(tmp_path):
    return Settings(canary(), tmp_path)


def test_a_fault_is_killed_by_the_first_check_that_sees_it_with_its_field(settings, tmp_path):
    mutant = planted_by_hand(settings.package, GOAL, "        end = place > GOAL  # R6")
    found = judged(settings, mutant)
    assert (found.status, found.killer, found.named) == ("killed", "differential.small_model", "terminated")
    assert (found.step, found.rule, found.located, found.by_reading) == (1, "R6", True, False)
    assert found.checks == {"spec_contract": "passed", "differential.small_model": "failed"}
    assert 0 < found.seconds <= found.spent
    assert not list(tmp_path.iterdir())  # copies and failure files are gone


def test_what_reading_finds_is_marked(settings):
    mutant = planted_by_hand(settings.package, GOAL, "        end = place >= max(GOAL, place.max().item())")
    found = judged(settings, mutant)
    assert (found.status, found.killer, found.by_reading) == ("killed", "spec_contract", True)


def test_without_reading_only_what_runs_counts(settings):
    mutant = planted_by_hand(settings.package, GOAL, "        end = place >= max(GOAL, 1 + place.min().item())")
    unread = Settings(settings.package, settings.scratch, unread=True)
    found = judged(unread, mutant)
    assert (found.status, found.killer.partition(".")[0]) == ("killed", "differential")


@pytest.mark.parametrize("text", ["end = place >= NOWHERE", "end = (place >= GOAL).to(torch.int32)", "end = place >="])
def test_what_does_not_run_at_all_is_stillborn(settings, text):
    found = judged(settings, planted_by_hand(settings.package, GOAL, f"        {text}"))
    assert found.status == "stillborn"
    assert found.why
    assert not found.counted


def test_a_harmless_change_survives_all_checks(settings, monkeypatch):
    few = ("spec_contract", "differential", "scripted_policies")  # all of them take half a minute
    monkeypatch.setattr("simulacrum.mutate.judge.required_checks", lambda forms=(): few)
    quick = Settings(settings.package, settings.scratch, quick=True)
    found = judged(quick, planted_by_hand(settings.package, GOAL, "        end = place > GOAL - 1"))
    assert found.status == "survived", found.message
    assert found.small_model  # the canary's is so small that a quick run walks it whole
    assert {path.partition(".")[0] for path in found.checks} == set(few)


def test_a_matrix_goes_on_after_the_first_failure(settings, monkeypatch):
    few = ("spec_contract", "differential", "scripted_policies")
    monkeypatch.setattr("simulacrum.mutate.judge.required_checks", lambda forms=(): few)
    whole = Settings(settings.package, settings.scratch, matrix=True, quick=True)
    found = judged(whole, planted_by_hand(settings.package, GOAL, "        end = place > GOAL"))
    assert found.status == "killed"
    assert found.killer == "differential.small_model"
    assert {"differential.small_model", "differential.rollouts", "scripted_policies"} <= set(found.killers)


def test_a_battery_that_breaks_kills_nothing(settings, monkeypatch):
    def broken(bench: object) -> None:
        raise AttributeError("no such thing in here")

    monkeypatch.setattr(differential, "run", broken)
    found = judged(settings, planted_by_hand(settings.package, GOAL, "        end = place > GOAL"))
    assert found.status == "lost"
    assert "differential broke: AttributeError" in found.why


def test_a_failure_of_a_fraction_alone_is_no_kill(settings, monkeypatch):
    """The quick replay fails, the whole one passes: a kill is one of a full validation."""
    real = running.run_check

    def odd(bench, name):
        outcome, seconds = real(bench, name) if name == "spec_contract" else (running.failed("odd"), 0.0)
        passes = not bench.quick and name != "spec_contract"
        return (differential.passed("fine"), 0.0) if passes else (outcome, seconds)

    monkeypatch.setattr("simulacrum.mutate.judge.run_check", odd)
    found = judged(settings, planted_by_hand(settings.package, GOAL, "        end = place > GOAL"))
    assert found.status == "survived"


def test_what_should_pass_is_given_no_fractions(settings):
    order = list(stages(replace(settings, whole=True)))
    assert [one.check for one in order if one.quick] == []
    assert {one.check for one in order} == set(required_checks())


def test_of_what_has_the_graph_of_the_original_only_the_text_is_judged(settings):
    same = read(settings, planted_by_hand(settings.package, GOAL, "        end = GOAL <= place"))
    assert (same.status, same.checks) == ("survived", {"spec_contract": "passed"})
    assert same.why == "the same graph as the original"
    reading = planted_by_hand(settings.package, GOAL, "        end = place >= max(GOAL, place.max().item())")
    refused = read(settings, reading)
    assert (refused.status, refused.killer) == ("killed", "spec_contract")


@pytest.mark.long
def test_who_passes_is_judged_without_what_the_reference_answered_to_others(settings, monkeypatch):
    few = ("spec_contract", "differential")
    monkeypatch.setattr("simulacrum.mutate.judge.required_checks", lambda forms=(): few)
    answers, asked = Answers(), []
    quick = replace(settings, quick=True)
    assert judged(quick, planted_by_hand(settings.package, GOAL, f"{GOAL} "), answers).status == "survived"
    real = Scalar.step
    monkeypatch.setattr(Scalar, "step", lambda self, *rest: asked.append(rest) or real(self, *rest))
    wrong = planted_by_hand(settings.package, GOAL, "        end = place > GOAL")
    assert judged(quick, wrong, answers).status == "killed"
    assert not asked
    again = judged(quick, planted_by_hand(settings.package, GOAL, f"{GOAL}  "), answers)
    assert (again.status, set(again.checks.values()) - {"skipped"}) == ("survived", {"passed"})
    assert asked


def test_the_cheap_stages_come_first(settings):
    order = list(stages(settings))
    assert [one.check for one in order[:2]] == ["spec_contract", "differential"]
    assert [one.quick for one in order if one.check == "replay"] == [True, False]
    assert [one.answered for one in order if SMALL_MODEL in one.asked] == [True, False]
    assert {one.check for one in order if not one.quick} == set(required_checks())
