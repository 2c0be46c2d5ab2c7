"""Counting verdicts: the score, kinds, killers, the smallest set, where reports point."""

from __future__ import annotations

import json

from simulacrum.mutate.matrix import by_check, by_kind, located, smallest_set, summary, tally
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.verdict import Verdict


def killed(name: str, *killers: str, **more: object) -> Verdict:
    return Verdict(name, "killed", killer=killers[0], checks=dict.fromkeys(killers, "failed"), **more)


VERDICTS = [
    killed("a", "differential.rollouts", "replay", step=3, seconds=1.0, located=True),
    killed("b", "differential.rollouts", step=5, seconds=2.0, located=False),
    killed("c", "replay", seconds=4.0),
    killed("d", "spec_contract", by_reading=True, seconds=0.1),
    Verdict("e", "survived", checks={"auto_reset": "inconclusive"}),
    Verdict("f", "stillborn"), Verdict("g", "equivalent"), Verdict("h", "duplicate", of="a"), Verdict("i", "timeout"),
]  # fmt: skip


def test_what_is_no_fault_or_had_no_time_is_not_in_the_score():
    whole = tally(VERDICTS)
    assert whole.score == "4/5"
    assert (whole.planted, whole.counted, whole.timeout, whole.by_reading) == (9, 5, 1, 1)
    assert whole.share == 0.8
    assert tally([]).share is None


def test_kinds_are_counted_apart():
    pairs = [(Mutant(v.id, "K01" if v.id < "c" else "K20", "", "", 1, "", "", ""), v) for v in VERDICTS]
    assert {kind: one.score for kind, one in by_kind(pairs).items()} == {"K01": "2/2", "K20": "2/3"}


def test_killers_count_first_and_unique_failures():
    rows = {one.path: one for one in by_check(VERDICTS, matrix=True)}
    assert (rows["replay"].first, rows["replay"].all, rows["replay"].unique) == (1, 2, 1)
    assert (rows["differential.rollouts"].first, rows["differential.rollouts"].steps) == (2, 4)
    assert by_check(VERDICTS, matrix=False)[0].unique is None


def test_the_smallest_set_kills_all_that_is_killed():
    assert smallest_set(VERDICTS) == ["differential.rollouts", "replay", "spec_contract"]


def test_reports_that_name_the_place_are_counted():
    assert located(VERDICTS) == (1, 2)


def test_a_summary_is_json():
    pairs = [(Mutant(v.id, "K20", "", "", 1, "", "", ""), v) for v in VERDICTS]
    body = json.loads(json.dumps(summary(pairs, matrix=True)))
    assert body["total"]["score"] == "4/5"
    assert body["survivors"] == ["e"]


def test_verdicts_survive_the_way_through_json():
    for one in VERDICTS:
        assert Verdict.from_json(json.loads(json.dumps({**one.to_json(), "new": 1}))) == one
    assert VERDICTS[4].open == ["auto_reset"]
