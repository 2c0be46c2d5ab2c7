from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kit import NAMES, package

from simulacrum.contract.fields import Field
from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.checks import invariant_sweep
from simulacrum.harness.frames import frame_fields
from simulacrum.harness.illegal import illegal_values, unheld
from simulacrum.harness.legal import Legal
from simulacrum.trace.divergence import read_divergence

Check = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_sound_twins_keep_their_word(check: Check, name: str) -> None:
    outcome = check("invariant_sweep", name)
    assert outcome.status == "passed", outcome.message
    assert outcome.evidence["episode_ends"] > 50
    assert outcome.evidence["row_moments"] > 5000
    assert outcome.evidence["reference_moments"] > 50
    assert outcome.evidence["illegal_actions_tried"] >= 2


def test_the_full_run_is_wide_and_long() -> None:
    assert max(plan.num_envs for plan in invariant_sweep.FULL) >= 1000
    assert {plan.limit for plan in invariant_sweep.FULL} >= {1, 2, 7}


def test_a_broken_invariant_names_row_rule_state_and_action(check: Check, changed: Changed) -> None:
    edit = ("fast.py", "return right.to(torch.int32) * 2 - 1", "return (right.to(torch.int32) * 2 - 1) * 2")
    outcome = check("invariant_sweep", changed("toywalk", edit))
    assert outcome.status == "failed"
    found = outcome.divergence
    assert found is not None
    assert found.difference.path == "invariant.within_reach"
    assert (found.difference.reference.decimal, found.difference.batched.decimal) == ("True", "False")
    assert found.rule is not None
    assert found.rule.id == "R12"
    assert found.previous_state is not None
    assert abs(found.previous_state["position"]) == 2
    assert found.step == found.t == 0
    assert read_divergence(found.files["record"]) == found


def test_a_wrong_invariant_is_told_from_a_wrong_twin(check: Check, changed: Changed) -> None:
    package = changed(
        "toywalk",
        ("fast.py", "(state.position >= START_LOW - ctx.t)", "(state.position >= START_LOW + 1 - ctx.t)"),
    )
    found = check("invariant_sweep", package).divergence
    assert found is not None
    assert found.step == -1
    assert found.difference.reference.decimal == "True"  # the reference's invariant still holds there
    both = changed_both(package)
    outcome = check("invariant_sweep", both)
    assert outcome.status == "failed"
    assert "the reference breaks within_reach (R12" in outcome.message
    assert "seed" in outcome.message


def changed_both(package: EnvPackage) -> EnvPackage:
    path = package.folder / "reference.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("return START_LOW - ctx.t <=", "return START_LOW + 1 - ctx.t <="), "utf-8")
    package.reload()
    return package


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("/ GOAL  # R9", "/ GOAL * 1.5  # R9", "observation[0]"),
        ("/ GOAL  # R9", "/ GOAL * torch.where(ctx.t == 3, torch.nan, 1.0)  # R9", "observation[0]"),
        ("/ GOAL  # R9", "/ GOAL * torch.where(ctx.t == 3, -1.0, 1.0)  # R9", "observation[0]"),
        ("torch.where(at_goal, GOAL_REWARD, ", "torch.where(at_goal, GOAL_REWARD + 1.0, ", "reward"),
        ('{"distance": GOAL - state.position}', '{"distance": GOAL - 1 - state.position}', "info.distance"),
    ],
)
def test_values_the_schema_does_not_allow_are_found(
    check: Check, changed: Changed, old: str, new: str, path: str
) -> None:
    outcome = check("invariant_sweep", changed("toywalk", ("fast.py", old, new)))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == path
    assert outcome.divergence.difference.reference.bits is None  # what was asked for, in words


def test_no_invariants_is_not_a_pass(check: Check, changed: Changed) -> None:
    edits = [
        (file, text, "") for file in ("fast.py", "reference.py")
        for text in ('    @invariant("the walker is on the line", rule="R11")\n',
                     '    @invariant("the walker has moved at most one cell a step", rule="R12")\n')
    ]  # fmt: skip
    outcome = check("invariant_sweep", changed("toywalk", *edits))
    assert outcome.status == "inconclusive"
    assert "no invariants" in outcome.message


def test_an_invariant_that_is_no_truth_a_row_is_refused(check: Check, changed: Changed) -> None:
    old = "return (state.position >= LEFT_END) & (state.position <= GOAL)"
    new = "return (state.position >= LEFT_END).all()"
    outcome = check("invariant_sweep", changed("toywalk", ("fast.py", old, new)))
    assert outcome.status == "failed"
    assert "on_the_line" in outcome.message


def field(**more: Any) -> Field:
    return replace(Field("f", "f", "float32", ()), **more)


@pytest.mark.parametrize(
    ("spec", "value", "wrong"),
    [
        (field(), np.nan, True), (field(allow=frozenset({"nan"})), np.nan, False),
        (field(), np.inf, True), (field(allow=frozenset({"inf"})), -np.inf, False),
        (field(), -0.0, True), (field(allow=frozenset({"-0.0"})), -0.0, False),
        (field(low=0.0), -0.5, True), (field(high=1.0), np.nextafter(np.float32(1), np.float32(2)), True),
        (field(low=0.0, high=1.0), 1.0, False), (field(low=0.0, allow=frozenset({"nan"})), np.nan, False),
        (replace(field(), dtype="int32", low=1), 0, True), (replace(field(), dtype="bool"), True, False),
    ],
)  # fmt: skip
def test_what_is_allowed(spec: Field, value: float, wrong: bool) -> None:
    legal = Legal(package("toywalk").schema)
    legal.fields = {"f": spec}
    # A tuple of two, which a generator does not show.
    legal.limits = {"f": tuple(None if b is None else np.array(b, spec.dtype) for b in (spec.low, spec.high))}  # type: ignore[dict-item]
    frame = {"f": np.array([0 if spec.low is None else spec.low, value], dtype=spec.dtype)}
    found = legal.breaches(frame, None)
    assert [one.rows.tolist() for one in found] == ([[1]] if wrong else [])


def test_bounds_of_single_elements_count_and_rewards_only_where_a_step_was_taken() -> None:
    schema = package("toywalk").schema
    legal = Legal(schema)
    good = {name: np.zeros((3, *spec.shape), spec.dtype) for name, spec in frame_fields(schema).items()}
    assert legal.breaches(good, None) == []
    low = {**good, "observation": np.array([[0, 0], [-1, 0], [0, -0.5]], np.float32)}
    (found,) = legal.breaches(low, None)
    assert (found.name, found.rows.tolist(), found.index) == ("observation", [2], (1,))
    paid = {**good, "reward": np.array([11, -1, 11], np.float32)}
    assert legal.breaches(paid, None) == []
    (found,) = legal.breaches(paid, np.array([False, True, True]))
    assert found.rows.tolist() == [2]


def test_illegal_values_lie_outside_and_fit_the_dtype() -> None:
    walk = package("toywalk").schema.action.leaf
    assert set(illegal_values(walk)) == {-1, 2, -(2**63), 2**63 - 1}
    box = package("glider").schema.action.leaf
    assert sum(np.isnan(value) for value in illegal_values(box)) == 1
    assert all(not -1 <= value <= 1 for value in illegal_values(box))


@pytest.mark.parametrize("name", [*NAMES, "toywalk"])
def test_illegal_actions_change_nothing(name: str) -> None:
    problem, tried = unheld(Bench(package(name)))
    assert problem is None
    assert tried >= 2
