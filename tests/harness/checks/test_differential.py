from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import NAMES, package

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.checks import differential
from simulacrum.harness.checks.differential import FULL, Plan
from simulacrum.harness.running import run_check

Check = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]
ROLLOUTS = {"quick": False, "asked": ("differential.rollouts",)}
GOAL = "return torch.where(at_goal, GOAL_REWARD, step_reward)"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One small plan, for what does not depend on sizes."""
    for plans in ("QUICK", "FULL"):
        monkeypatch.setattr(differential, plans, (Plan(9, 9, params=True),))


@pytest.mark.parametrize("name", [*NAMES, "toywalk", pytest.param("forager", marks=pytest.mark.long)])
def test_sound_twins_agree_and_the_evidence_says_on_what(check: Check, name: str) -> None:
    outcome = check("differential", name)
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["compared_transitions"] > 500
    assert outcome.evidence["episodes_per_row_at_least"] >= 3
    assert outcome.evidence["met"]["ended"] > 100
    assert outcome.evidence["rules_met"]


def test_the_full_run_has_many_sizes_odd_ones_and_one_beyond_4096() -> None:
    sizes = [plan.num_envs for plan in FULL]
    assert sizes == sorted(sizes)
    assert {1, 2, 3} <= set(sizes)
    assert sum(size % 2 for size in sizes) >= 4
    assert max(sizes) > 4096
    assert any(plan.params for plan in FULL)
    assert any(plan.scripted for plan in FULL)


@pytest.mark.long
def test_a_full_run_of_toywalk_compares_100_000_transitions_and_meets_everything(tmp_path: Path) -> None:
    bench = Bench(package("toywalk"), failures=tmp_path)
    outcome = run_check(bench, "differential")[0]
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["compared_transitions"] >= 100_000
    assert min(outcome.evidence["met"].values()) >= 1
    assert outcome.evidence["checksum"] == bench.checksums["differential"]
    speed = run_check(bench, "throughput")[0]
    assert speed.evidence["checksum_of"] == "differential"


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (GOAL, GOAL.replace("step_reward)", "step_reward * 1.0000001)"), "reward"),
        ("reward, at_goal)  # R7", "reward, at_goal & (ctx.t < 40))  # R7", "terminated"),
        ('{"distance": GOAL - state.position}', '{"distance": (GOAL - state.position).clamp(max=9)}', "info.distance"),
        ("torch.stack([where, elapsed], dim=-1)", "torch.stack([where, elapsed + 0.0 * where], dim=-1) * 1.0000001",
         "observation[0]"),
        ("START_HIGH + 1, low", "START_HIGH, low", "state.position"),
        (".clamp(LEFT_END, GOAL)  # R5", ".clamp(LEFT_END + 1, GOAL)  # R5", "state.position"),
        ('"slip", ctx.params.slip)', '"slip", ctx.params.slip * 0.99)', "state.position"),
    ],
)  # fmt: skip
def test_planted_faults_are_named_by_field(check: Check, changed: Changed, old: str, new: str, path: str) -> None:
    outcome = check("differential", changed("toywalk", ("fast.py", old, new)))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == path
    assert path in outcome.message


@pytest.mark.usefixtures("small")
def test_a_rule_that_no_row_met_is_not_passed_over(check: Check, changed: Changed) -> None:
    package_ = changed(
        "toywalk",
        ("reference.py", "        return position\n",
         "        if position == 77:\n            return GOAL  # R8\n        return position\n"),
        ("spec.md", "- **R8** The engine", "- **R8** Cell 77 is the goal. The engine"),
        ("reference.py", "The engine carries out R1 (illegal actions) and R8 (the time limit).", "The engine does R1."),
    )  # fmt: skip
    outcome = check("differential", package_, **ROLLOUTS)
    assert outcome.status == "inconclusive", outcome.message
    assert "never met: rule R8" in outcome.message


@pytest.mark.usefixtures("small")
def test_a_slot_that_nobody_draws_is_not_passed_over(check: Check, changed: Changed) -> None:
    draw = {"name": "idle", "phase": "step", "distribution": "uniform", "dtype": "float32", "rule": "R3"}
    edit = ("schema.json", '"x-draws": [', f'"x-draws": [{json.dumps({**draw, "description": "-"})},')
    unused = changed("toywalk", edit)
    outcome = check("differential", unused, **ROLLOUTS)
    assert outcome.status == "inconclusive"
    assert "draw slot idle" in outcome.message
    assert check("differential", unused).status == "passed"  # a quick run does not judge what never came up


@pytest.mark.usefixtures("small")
def test_a_plan_ends_after_so_many_steps(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differential, "MOST_STEPS", 50)
    outcome = check("differential", "toywalk", asked=("differential.rollouts",))
    assert outcome.evidence["compared_transitions"] <= 9 * 50


def test_no_episode_end_is_not_passed_over(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differential, "QUICK", (Plan(3, 3),))
    monkeypatch.setattr(differential, "EPISODES", 0)
    outcome = check("differential", "toywalk")
    assert outcome.status == "inconclusive"
    assert "an episode end" in outcome.message


TOLERANCE = '"x-ulp": 4, "x-tolerance-reason": "a test",\n      "x-low": [-1, 0]'


@pytest.mark.usefixtures("small")
def test_a_tolerance_nobody_needs_is_called_a_weakened_test(check: Check, changed: Changed) -> None:
    outcome = check("differential", changed("toywalk", ("schema.json", '"x-low": [-1, 0]', TOLERANCE)))
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["tolerances_never_needed"] == ["observation"]
    assert "weakened" in outcome.message


@pytest.mark.usefixtures("small")
def test_a_tolerance_that_is_needed_is_reported_with_its_share(check: Check, changed: Changed) -> None:
    package_ = changed(
        "toywalk",
        ("schema.json", '"x-low": [-1, 0]', TOLERANCE),
        ("fast.py", "/ GOAL  # R9", "/ (GOAL + 5e-7)  # R9"),
    )
    outcome = check("differential", package_)
    assert outcome.status == "passed", outcome.message
    assert 0 < outcome.evidence["tolerances_used"]["observation"] <= 1
    assert outcome.evidence["tolerances_never_needed"] == []


def test_a_twin_that_raises_is_named_by_its_line(check: Check, changed: Changed) -> None:
    edit = ("fast.py", "move = self._move(action, slips)  # R4: int32 [N]", "move = self._mve(action, slips)")
    outcome = check("differential", changed("toywalk", edit))
    assert outcome.status == "failed"
    assert "fast.py:28" in outcome.message
    assert "_mve" in outcome.message
