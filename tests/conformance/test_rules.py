"""Each rule fails on the fault that it is there for, and none on a right environment."""

from __future__ import annotations

import gymnasium
import kit.track
import pytest
from gymnasium.vector import AutoresetMode

from conformance.faults import FAULTS, REGISTERED
from simulacrum.conformance.catalog import RULES
from simulacrum.conformance.runner import judge
from simulacrum.conformance.subject import Subject
from simulacrum.conformance.target import subject_of


def faulty(rule):
    if rule in FAULTS:
        return Subject(FAULTS[rule], single=lambda **_: kit.track.TrackSingle())
    name, kwargs = REGISTERED[rule]
    env_id = f"kit/Fault-{rule.replace('.', '-')}-v0"
    if env_id not in gymnasium.registry:
        gymnasium.register(env_id, vector_entry_point=f"conformance.faults.rebuilt:{name}", kwargs=kwargs)
    return subject_of(env_id)


def test_each_rule_has_a_fault():
    assert {*FAULTS, *REGISTERED} == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_rule_fails_on_its_fault(name):
    result = judge(faulty(name), RULES[name], 20)
    assert result.status == "failed", result.text()
    assert result.severity == RULES[name].severity


@pytest.mark.parametrize("mode", [None, *AutoresetMode])
def test_right_environment_holds_every_rule(mode):
    subject = subject_of(f"kit.track:{kit.track.ID}", kwargs={} if mode is None else {"autoreset_mode": mode.value})
    results = [judge(subject, rule, 20) for rule in RULES.values()]
    assert [one.text() for one in results if one.status == "failed"] == []
    skipped = {one.rule for one in results if one.status == "skipped"}
    # Gymnasium's wrappers of observations take NEXT_STEP alone, or refuse SAME_STEP. Nothing else is skipped.
    assert skipped <= {"wrappers.normalize_observation", "wrappers.flatten_observation"}
    assert bool(skipped) == (mode not in (None, AutoresetMode.NEXT_STEP))


def test_rule_says_what_it_claims_and_where_that_stands():
    for rule in RULES.values():
        assert rule.claim
        assert rule.source
        assert rule.severity in ("error", "warning")
        assert "\n" not in rule.claim


def test_failure_names_row_step_field_and_values():
    result = judge(faulty("final.beside_single"), RULES["final.beside_single"], 20)
    assert result.row is not None
    assert result.step is not None
    assert result.field == "observation"
    assert float(result.found) == float(result.expected) - 1
