"""The exact form: equal twins pass, and a fault that a policy meets is told as the battery tells one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulacrum.attest.record import Configuration
from simulacrum.attest.report import read_report, write_report
from simulacrum.errors import GateError, UsageError
from simulacrum.transfer.certificate import standing
from simulacrum.transfer.exact import EACH, exact
from simulacrum.transfer.policies import Policy, at_random, of_function, probes_of


def played(package, policies, episodes=EACH):
    return exact(
        standing(package), policies, episodes=episodes, failures=Path("failures"), seed=1, say=lambda *what: None
    )


def test_equal_twins_pass_and_the_episodes_are_counted(toywalk):
    package = toywalk()
    seen = []
    outcome = exact(
        standing(package), probes_of(package), episodes=100, failures=Path("failures"), seed=1,
        say=lambda *what: None, on_policy=seen.append,
    )  # fmt: skip
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["verdict"] == "equal"
    assert [one.policy.name for one in seen] == ["always_right", "dither"]
    assert all(len(one.returns) == 100 for one in seen)
    # Exact expectations are 4.75 and -44.2, with standard deviations 2.58 and 23.4 (tests/envs/test_toywalk_probes.py).
    means = [one.evidence["mean_return"] for one in seen]
    np.testing.assert_allclose(means, [4.75, -44.2], atol=10.0)
    assert means[0] == pytest.approx(4.75, abs=1.2)
    assert outcome.evidence["transitions"] == sum(one.transitions for one in seen)


def test_a_fault_that_a_policy_meets_is_told_with_step_field_and_both_values(toywalk):
    package = toywalk("late")
    right, dither = probes_of(package)
    outcome = played(package, [right, dither], episodes=200)
    assert outcome.status == "failed"
    found = outcome.divergence
    assert found is not None
    assert found.check == "policy_transfer"
    assert found.difference.path == "reward"
    assert (found.difference.reference.decimal, found.difference.batched.decimal) == ("10.0", "9.0")
    assert found.t >= 50
    assert Path(found.files["record"]).is_file()
    assert found.shrunk is not None
    assert found.shrunk.verified
    policies = outcome.evidence["policies"]
    assert policies["always_right"]["equal"], "a policy that never dawdles never meets it"
    assert not policies["dither"]["equal"]
    assert policies["dither"]["first_difference"] == "reward"
    assert "dither" in outcome.message


def test_one_wrong_bit_of_the_observation_is_enough(toywalk):
    outcome = played(toywalk("reciprocal"), [of_function("right", lambda observation, state, t: 1)], episodes=100)
    assert outcome.status == "failed"
    assert outcome.divergence.difference.path.startswith("observation")
    assert outcome.divergence.difference.ulp == 1


def test_a_policy_for_the_whole_batch_is_shown_what_the_rows_show(toywalk):
    package = toywalk()
    shapes = set()

    def act(observations, mask):
        shapes.add((observations.shape, observations.dtype.name, mask))
        return np.ones(len(observations))  # not of the schema's dtype: it is brought to it

    outcome = played(package, [Policy("right", batch=act)], episodes=8)
    assert outcome.status == "passed"
    assert shapes == {((2, 2), "float32", None)}
    by_row = played(package, [of_function("right", lambda observation, state, t: 1)], episodes=8)
    assert by_row.evidence["policies"]["right"]["mean_return"] == outcome.evidence["policies"]["right"]["mean_return"]


def test_policy_that_raises_is_told_as_its_own(toywalk):
    def act(observation, state, t):
        raise KeyError("left")

    with pytest.raises(UsageError, match="the policy broken raised KeyError"):
        played(toywalk(), [of_function("broken", act)])


def test_random_plays_too(toywalk):
    package = toywalk()
    outcome = played(package, [at_random(package.schema, seed=3)])
    assert outcome.status == "passed"
    assert outcome.evidence["policies"]["random"]["episodes"] == EACH


def test_without_an_episode_that_ends_nothing_is_proven(toywalk, monkeypatch):
    monkeypatch.setattr("simulacrum.transfer.exact.LONGEST", 100)
    package = toywalk("endless")
    outcome = played(package, [of_function("left", lambda observation, state, t: 0)])
    assert outcome.status == "inconclusive"
    assert "no episode ended" in outcome.message


def test_stale_report_refuses(toywalk):
    package = toywalk()
    with (package.folder / "fast.py").open("a") as file:
        file.write("\n")
    with pytest.raises(GateError, match="stale"):
        standing(package)


def test_form_must_be_a_validated_one(toywalk, passing):
    package = toywalk()
    assert standing(package).form == "eager"
    with pytest.raises(UsageError, match=r"'inductor' of .* was not validated"):
        standing(package, "inductor")
    report = passing(package)
    forms = (Configuration(), Configuration(compile="inductor"))
    write_report(package, type(report)(**{**vars(report), "configurations": forms}))
    assert standing(package).form == "inductor"
    assert read_report(package.folder / "validation_report.json").passed
