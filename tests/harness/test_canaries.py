"""The canaries are seen by the checks as they are, and missed by checks that compare wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulacrum.attest.catalog import CHECKS
from simulacrum.harness import compare, lockstep, recording
from simulacrum.harness.bench import Bench, failed, passed
from simulacrum.harness.canaries import Aviary
from simulacrum.harness.canaries.faults import CANARIES, Canary
from simulacrum.harness.running import run_check


@pytest.fixture(scope="module")
def aviary():
    with Aviary() as made:
        yield made


def named(name: str) -> Canary:
    return next(canary for canary in CANARIES if canary.name == name)


EVERY_FIELD = named("one bit of every field, in one row at one step")
NAN = named("a NaN of other bits")
LATER = named("later episodes start elsewhere")
LEAK = named("a neighbour leaks in")


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: f"{canary.path}: {canary.name}")
def test_every_canary_is_caught_for_its_own_reason(aviary, canary):
    assert aviary.missed(canary) is None


def test_every_check_that_decides_has_one():
    deciding = {check.name for check in CHECKS if check.required != "records"}
    assert {canary.check for canary in CANARIES} == deciding


@pytest.mark.parametrize("check", [check.name for check in CHECKS if check.required in ("yes", "if supplied")
                                   and check.name != "determinism"])  # fmt: skip
def test_the_canary_itself_passes_what_its_faults_fail(aviary, tmp_path, check):
    parts = frozenset(canary.path for canary in CANARIES if canary.part)
    bench = Bench(aviary.base, forms=("eager",), quick=True, failures=tmp_path, asked=parts)
    outcome, _ = run_check(bench, check)
    assert outcome.status == "passed", outcome.message


def test_the_evidence_says_how_many_were_caught(aviary):
    outcome = aviary.judged("scripted_policies", passed("fine", counted=1))
    assert outcome.status == "passed"
    assert outcome.evidence == {"counted": 1, "canaries": {"planted": 1, "caught": 1, "missed": []}}


def test_a_check_that_misses_its_canary_has_not_passed(aviary, monkeypatch):
    monkeypatch.setattr("simulacrum.harness.checks.scripted_policies.failed", lambda message, **evidence: passed())
    outcome = aviary.judged("scripted_policies", passed("fine"))
    assert outcome.status == "inconclusive"
    assert "rewards twice as high in both twins: scripted_policies passed" in outcome.message
    assert outcome.evidence["canaries"]["caught"] == 0


def test_what_did_not_pass_is_left_as_it_is(aviary):
    outcome = failed("it failed before")
    assert aviary.judged("differential", outcome) is outcome


def test_a_canary_that_fails_for_another_reason_counts_as_missed(aviary):
    other = Canary("of another field", "scripted_policies", edits=named("rewards twice as high in both twins").edits,
                   told=("state.place",))
    planted = aviary._planted
    aviary._planted = lambda canary: planted(named("rewards twice as high in both twins"))
    try:
        assert "did not speak of state.place" in aviary.missed(other)
    finally:
        del aviary._planted


# --- the harness itself, bent ------------------------------------------------------------------------------------


def test_comparing_the_wrong_row_is_noticed(aviary, monkeypatch):
    """Row 0 stands for all rows: the fault in row 1 is not seen."""

    def first_row(reference: Any, batched: Any, fields: Any, **given: Any) -> Any:
        index = np.zeros(len(reference["t"]), dtype=np.int64)
        frames = ({name: value[index] for name, value in frame.items()} for frame in (reference, batched))
        return compare.differences(*frames, fields, **given)

    monkeypatch.setattr(lockstep, "differences", first_row)
    assert aviary.missed(EVERY_FIELD) == "differential.rollouts passed"


@pytest.mark.parametrize("skipped", ["observation", "reward", "terminated", "truncated", "info.left", "action_mask"])
def test_a_field_that_is_left_out_is_noticed(aviary, monkeypatch, skipped):
    made = lockstep.frame_fields

    def fewer(schema: Any, **given: Any) -> Any:
        return {name: field for name, field in made(schema, **given).items() if name != skipped}

    def without(reference: Any, batched: Any, fields: Any, **given: Any) -> Any:
        return compare.differences(reference, batched, fields, names=list(fields), **given)

    monkeypatch.setattr(lockstep, "frame_fields", fewer)
    monkeypatch.setattr(lockstep, "differences", without)
    assert skipped in (aviary.missed(EVERY_FIELD) or "")


def test_stopping_after_the_first_episode_is_noticed(aviary, monkeypatch):
    """Rows are looked at until their first episode has ended."""

    def first_episode(reference: Any, batched: Any, fields: Any, **given: Any) -> Any:
        early = np.flatnonzero(reference["episode"] == 0)
        frames = ({name: value[early] for name, value in frame.items()} for frame in (reference, batched))
        return compare.differences(*frames, fields, **given)

    monkeypatch.setattr(lockstep, "differences", first_episode)
    assert aviary.missed(LATER) == "differential.rollouts passed"


def test_taking_nan_for_equal_to_nan_is_noticed(aviary, monkeypatch):
    exact = compare.bits

    def loose(array: Any) -> Any:
        return exact(np.where(np.isnan(array), np.nan, array).astype(array.dtype) if array.dtype.kind == "f" else array)

    monkeypatch.setattr(compare, "bits", loose)
    assert aviary.missed(NAN) is not None


def test_comparing_after_both_were_overwritten_is_noticed(aviary, monkeypatch):
    """Both sides show one buffer by the time they are compared."""

    def same(reference: Any, batched: Any, fields: Any, **given: Any) -> Any:
        for name, value in batched.items():
            if name in reference and reference[name].shape == value.shape:
                value[...] = reference[name]
        return compare.differences(reference, batched, fields, **given)

    monkeypatch.setattr(lockstep, "differences", same)
    assert aviary.missed(EVERY_FIELD) is not None


def test_holding_a_row_against_itself_is_noticed(aviary, monkeypatch):
    """What is compared with the row alone is the row alone."""
    monkeypatch.setattr(recording, "differences", lambda one, other, fields, **given: [])
    assert aviary.missed(LEAK) is not None
