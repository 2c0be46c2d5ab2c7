"""Sub-checks: which run, and what they make of their check."""

from __future__ import annotations

import pytest
from kit import package

from simulacrum.errors import UsageError
from simulacrum.harness.battery import chosen_checks, run_battery
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed
from simulacrum.harness.parts import Parts


def parts(*asked: str) -> Parts:
    return Parts(Bench(package("counter"), check="differential", asked=frozenset(asked)))


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(passed("fine"), "passed"), (failed("no"), "failed"), (inconclusive("never met"), "inconclusive")],
)
def test_a_check_is_as_its_sub_check(outcome: Outcome, status: str) -> None:
    made = parts()
    assert made.run("rollouts", lambda: outcome) is outcome
    check = made.joined()
    assert (check.status, check.message) == (status, outcome.message)
    assert check.result(1.0).parts["rollouts"].status == status


def test_what_was_not_asked_for_is_not_run() -> None:
    made = parts("differential.another")
    assert made.run("rollouts", lambda: failed("never called")) is None
    assert made.joined().status == "passed"
    assert not made.results


def test_nothing_runs_after_a_failure() -> None:
    made = parts()
    made.run("rollouts", lambda: failed("first"))
    assert made.run("rollouts", lambda: passed("second")) is None
    assert made.joined().message == "first"


def test_a_name_outside_the_catalogue_is_refused() -> None:
    with pytest.raises(AssertionError, match="catalog"):
        parts().run("rollout", passed)


def test_a_sub_check_is_chosen_by_its_path() -> None:
    assert chosen_checks(["differential.rollouts"]) == ["differential"]
    with pytest.raises(UsageError, match=r"rollout'"):
        chosen_checks(["differential.rollout"])
    result = run_battery(package("counter"), checks=["differential.rollouts"], forms=[], quick=True)
    assert list(result.outcomes["differential"].parts) == ["rollouts"]
    assert result.passed


def test_some_are_quoted_and_the_others_counted() -> None:
    made = parts()
    for name in ("small_model", "boundary_states", "rollouts"):
        made.run(name, lambda name=name: passed(f"{name} agrees"))
    assert made.joined("rollouts").message == "rollouts agrees; 2 more parts hold"
    assert made.joined("rollouts", "coverage").message == "small_model agrees; boundary_states agrees; rollouts agrees"
