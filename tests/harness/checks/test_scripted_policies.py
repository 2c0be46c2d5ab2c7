from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from kit import package

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome, seeds_for
from simulacrum.harness.frames import BatchSide, ReferenceSide
from simulacrum.harness.reading import readings

Check = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]


def test_the_probes_of_toywalk_earn_what_is_said(check: Check) -> None:
    outcome = check("scripted_policies", "toywalk", quick=False)
    assert outcome.status == "passed", outcome.message
    facts = outcome.evidence["always_right"]
    assert facts["episodes"] == 1000
    assert facts["low"] <= facts["mean"] <= facts["high"]
    assert 0.05 < facts["standard_error"] < 0.11
    assert facts["also_in_reference"] >= 40
    assert facts["unended"] == 0


def test_the_probes_of_forager_play_in_both_twins(check: Check) -> None:
    outcome = check("scripted_policies", "forager")
    assert outcome.status == "passed", outcome.message
    assert set(outcome.evidence) == {"scatter", "greedy"}


def test_no_probes_is_skipped(check: Check) -> None:
    outcome = check("scripted_policies", "counter")
    assert outcome.status == "skipped"


def test_a_mean_outside_the_interval_fails_with_figures(check: Check, changed: Changed) -> None:
    outcome = check("scripted_policies", changed("toywalk", ("probes.py", "low=4.34", "low=4.99")), quick=False)
    assert outcome.status == "failed"
    assert "always_right" in outcome.message
    assert "4.99" in outcome.message
    assert "standard error" in outcome.message
    assert "dither" not in outcome.message


def test_a_reward_that_was_not_meant_fails_even_where_the_twins_agree(check: Check, changed: Changed) -> None:
    package_ = changed("toywalk", ("__init__.py", "STEP_REWARD = -1.0", "STEP_REWARD = -0.5"))
    outcome = check("scripted_policies", package_, quick=False)
    assert outcome.status == "failed"
    assert "outside" in outcome.message


def test_a_quick_run_sees_what_is_far_off(check: Check, changed: Changed) -> None:
    outcome = check("scripted_policies", changed("toywalk", ("__init__.py", "GOAL_REWARD = 10.0", "GOAL_REWARD = 5.0")))
    assert outcome.status == "failed"
    assert "60 episodes" in outcome.message


def test_returns_that_differ_between_the_twins_fail(check: Check, changed: Changed) -> None:
    edit = ("fast.py", "torch.where(at_goal, GOAL_REWARD, step_reward)", "torch.where(at_goal, 10.5, step_reward)")
    outcome = check("scripted_policies", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "in the reference" in outcome.message


def test_returns_that_depend_on_company_fail(check: Check, changed: Changed) -> None:
    old = "return torch.where(at_goal, GOAL_REWARD, step_reward)"
    new = f"{old} + (len(at_goal) == 1) * 0.25"
    outcome = check("scripted_policies", changed("toywalk", ("fast.py", old, new)))
    assert outcome.status == "failed"
    assert "alone" in outcome.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("LEFT, RIGHT = 0, 1", "LEFT, RIGHT = 0, 2", "outside the action space"),
        ("low=4.34", "low=6.0", "no interval"),
        ("episodes=1000", "episodes=1", "fewer than two"),
    ],
)
def test_a_probe_that_cannot_be_judged_is_named(check: Check, changed: Changed, old: str, new: str, said: str) -> None:
    outcome = check("scripted_policies", changed("toywalk", ("probes.py", old, new)))
    assert outcome.status == "failed"
    assert "always_right" in outcome.message
    assert said in outcome.message


@pytest.mark.parametrize("name", ["toywalk", "forager", "glider", "canvas", "dials"])
def test_policies_see_the_same_in_both_twins(name: str) -> None:
    bench = Bench(package(name))
    env = bench.env(4)
    side, reference = BatchSide(env), ReferenceSide.beside(env)
    seeds = seeds_for(4, 2)
    frame = side.reset(seed=seeds)
    reference.reset(seeds)
    for row, (observation, state, t) in zip((3, 1), readings(bench.schema, frame, [3, 1]), strict=True):
        runner = reference.runners[row]
        assert repr((observation, state, t)) == repr((runner.observe(), runner.state, runner.t))


def test_a_float32_is_handed_over_as_it_is() -> None:
    frame = {"state.position": np.array([3], np.int32), "t": np.array([1], np.int32),
             "observation": np.array([[0.1, 1 / 3]], np.float32)}  # fmt: skip
    ((observation, state, t),) = readings(package("toywalk").schema, frame, [0])
    assert repr(observation) == "(Float32(0.1), Float32(0.33333334))"
    assert (state.position, t) == (3, 1)
