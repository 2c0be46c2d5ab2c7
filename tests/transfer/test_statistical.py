"""The statistical form on twins that may differ: verdicts for planted effects, and a plan that is not changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulacrum.errors import UsageError
from simulacrum.transfer.certificate import standing
from simulacrum.transfer.statistical import PLAN, RESULTS, Plan, Study, Trained, outcome, study, tolerances

pytest.importorskip("scipy")


def right(envs, seed, steps):
    """Trains nobody: goes right, and left in a share of what it sees that depends on the seed."""
    share = np.random.default_rng(seed).uniform(0.0, 0.1)

    def act(observations, mask):
        chance = np.modf(np.abs(np.sin(observations.astype(np.float64) @ [12.9898, 78.233] + seed)) * 43758.5)[0]
        return (chance > share).astype(np.int64)

    return act


def plan_of(known, **changes):
    usual = Plan(
        env_id=known.package.env_id, digest=known.report.whole, form="eager", learner="right", margin=1.5, alpha=0.05,
        seeds=6, first_seed=1, steps=0, episodes=64, paired=False,
    )  # fmt: skip
    return replace(usual, **changes)


def run(package, folder="out", train=right, **changes):
    known = standing(package)
    plan, seen = plan_of(known, **changes), []
    return study(known, plan, train, Path(folder), say=lambda *what: None, on_trained=seen.append), seen


def test_a_tolerance_is_what_makes_it_statistical(toywalk):
    assert tolerances(standing(toywalk())) == []
    assert tolerances(standing(toywalk("tolerant"))) == ["reward"]


def test_a_small_effect_is_equivalent_and_a_large_one_is_not(toywalk):
    small, trained = run(toywalk("tolerant", "a little"))
    assert small.verdict == "equivalent"
    assert [(one.side, one.seed) for one in trained[:2]] == [("batched", 1), ("reference", 7)]
    # Each step but the last costs 0.01 more in the batched twin: a known effect, seen by the same policies.
    lengths = [(one.reference - one.batched) / 0.01 for one in small.trainings]
    assert min(lengths) > 4
    assert small.tests["judged"].difference == pytest.approx(-0.01 * np.mean(lengths[::2]), rel=0.1)
    assert outcome(small).status == "passed"

    large, _ = run(toywalk("tolerant", "much"), folder="other")
    assert large.tests["judged"].verdict == "different"
    assert large.tests["trained"].verdict != "different", "this learner cannot learn anything else there"
    assert large.verdict == "different"
    assert outcome(large).status == "failed"


def test_too_few_trainings_show_nothing_and_are_no_pass(toywalk):
    found, _ = run(toywalk("tolerant"), seeds=3, margin=0.05, episodes=8)
    assert found.verdict == "not shown"
    told = outcome(found)
    assert told.status == "inconclusive"
    assert told.evidence["tests"]["trained"]["power"] < 0.8
    assert told.evidence["tests"]["trained"]["needed"] > 3
    assert json.dumps(dict(told.evidence))


def test_pairs_share_their_seeds(toywalk):
    found, trained = run(toywalk("tolerant"), paired=True, seeds=3)
    assert [one.seed for one in trained] == [1, 1, 2, 2, 3, 3]
    assert found.tests["trained"].paired
    # The twins are alike and the learner is the same: every pair agrees to the bit.
    assert found.tests["trained"].difference == 0.0
    assert found.tests["trained"].sd == 0.0


def test_plan_is_written_first_and_not_changed(toywalk):
    package = toywalk("tolerant")

    def looks(envs, seed, steps):
        assert json.loads(Path("out", PLAN).read_text())["margin"] == 1.5
        assert not Path("out", RESULTS).exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(package, train=looks)
    with pytest.raises(UsageError, match="another plan") as raised:
        run(package, margin=3.0)
    assert "margin: 1.5, now 3.0" in str(raised.value.found)
    with pytest.raises(UsageError, match="another plan"):
        run(package, seeds=7)  # more seeds after a look at the results


def test_stopped_run_goes_on_with_what_it_has(toywalk):
    package, calls = toywalk("tolerant"), []

    def counted(envs, seed, steps):
        calls.append(seed)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return right(envs, seed, steps)

    with pytest.raises(KeyboardInterrupt):
        run(package, train=counted, seeds=3)
    assert len(json.loads(Path("out", RESULTS).read_text())) == 3
    whole, added = run(package, train=counted, seeds=3)
    assert [(one.side, one.seed) for one in added] == [("reference", 5), ("batched", 3), ("reference", 6)]
    again, _ = run(package, folder="new", seeds=3)
    assert whole.trainings == again.trainings


def test_one_training_a_twin_has_no_spread(toywalk):
    known = standing(toywalk("tolerant"))
    with pytest.raises(UsageError, match="too few trainings"):
        plan_of(known, seeds=2)
    with pytest.raises(UsageError, match="margin"):
        plan_of(known, margin=-1.0)


def test_both_comparisons_must_be_equivalent(toywalk):
    plan = plan_of(standing(toywalk("tolerant")), seeds=3)
    level = [5.0, 5.1, 4.9]

    def made(batched, reference, learned):
        sides = [Trained("batched", i, batched[i], reference[i]) for i in range(3)]
        return Study(plan, (*sides, *(Trained("reference", i, learned[i], learned[i]) for i in range(3))))

    assert made(level, level, level).verdict == "equivalent"
    apart = made([9.0, 9.1, 8.9], level, level)
    assert (apart.tests["trained"].verdict, apart.tests["judged"].verdict) == ("equivalent", "different")
    assert apart.verdict == "different"
    loose = made(level, level, [5.0, 9.0, 1.0])
    assert (loose.tests["judged"].verdict, loose.verdict) == ("equivalent", "not shown")
