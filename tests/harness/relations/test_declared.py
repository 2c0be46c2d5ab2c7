"""M13 to M16 and M18: what the author declares, what the reference draws, and memory that nobody wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.relations.dead import filled_memory
from simulacrum.harness.relations.declared import declared
from simulacrum.harness.relations.moments import moments
from simulacrum.trace.divergence import read_divergence

Relation = Callable[..., Outcome]
SOUND = [
    ("toywalk", "symmetries"), ("toywalk", "no_op"), ("toywalk", "derived_fields"), ("toywalk", "unused_draws"),
    ("forager", "dead_operands"), ("forager", "symmetries"), ("forager", "derived_fields"),
    ("forager", "unused_draws"), ("cartpole", "symmetries"), ("cartpole", "derived_fields"),
    ("rivals", "unused_draws"), ("canvas", "fresh_memory"),
]  # fmt: skip
FAULTS = [
    ("forager", "dead_operands", "dead elements of berry",
     ("fast.py", "torch.where(state.alive, column, 0.0) for column", "state.alive * column for column")),
    ("forager", "dead_operands", "dead elements of berry",
     ("fast.py", "return [state.alive[:, k] & here[k] for", "return [here[k] for")),
    ("forager", "symmetries", "'a quarter turn' is broken",
     ("fast.py", "(x + east_west).clamp(0, SIZE - 1)", "(x + east_west).clamp(0, SIZE - 2)")),
    ("cartpole", "symmetries", "'mirror' is broken",
     ("fast.py", "(theta > ANGLE_LIMIT)", "(theta > ANGLE_LIMIT * 0.5)")),
    ("cartpole", "symmetries", "'mirror' is broken", ("fast.py", "return self.State(*start.unbind(dim=-1))",
                                                      "return self.State(*start.abs().unbind(dim=-1))")),
    ("toywalk", "no_op", "left at the left end",
     ("fast.py", "(state.position + move).clamp(LEFT_END, GOAL)", "(state.position + move).clamp(LEFT_END - 1, GOAL)")),
    ("toywalk", "derived_fields", "the value of relations.py",
     ("fast.py", "GOAL - state.position}", "(GOAL - state.position).clamp(max=8)}")),
    ("toywalk", "fresh_memory", "never written",
     ("fast.py", "stack([where, elapsed]", "stack([where, elapsed + 0.0 * torch.empty_like(where)]")),
    ("forager", "unused_draws", "the draw start_x changes it",
     ("fast.py", 'y=draw.integers("start_y", SIZE)', 'y=(draw.integers("start_y", SIZE) + x) % SIZE')),
]  # fmt: skip


@pytest.mark.parametrize(("name", "part"), SOUND)
def test_sound_twins_hold(relation: Relation, name: str, part: str) -> None:
    outcome = relation(f"invariant_sweep.{part}", name)
    assert outcome.status == "passed", outcome.message
    assert outcome.parts[part].evidence["compared_transitions"] >= 24


@pytest.mark.parametrize(("name", "part", "said", "edit"), FAULTS)
def test_each_relation_finds_its_fault(
    relation: Relation, name: str, part: str, said: str, edit: tuple[str, str, str]
) -> None:
    outcome = relation(f"invariant_sweep.{part}", name, edit)
    assert outcome.status == "failed"
    found = outcome.divergence
    assert found is not None
    assert any(said in hint for hint in (outcome.message, *found.hints)), found.hints
    assert read_divergence(found.files["record"]) == found


def test_a_mistake_of_both_twins_breaks_a_symmetry(relation: Relation) -> None:
    edits = (
        ("fast.py", "(x + east_west).clamp(0, SIZE - 1)", "(x + east_west).clamp(0, SIZE - 2)"),
        ("reference.py", "return min(max(x, 0), SIZE - 1)", "return min(max(x, 0), SIZE - 2)"),
    )
    found = relation("invariant_sweep.symmetries", "forager", *edits).divergence
    assert found is not None
    assert found.previous_state is not None
    assert set(found.forced) == {"gust"}
    assert "K20" in [likely.kind for likely in found.diagnosis]


CAREFUL = (
    ("reference.py", 'slips = ctx.draw.bernoulli("slip", ctx.params.slip)',
     'slips = state.position > 0 and ctx.draw.bernoulli("slip", ctx.params.slip)'),
    ("fast.py", 'slips = ctx.draw.bernoulli("slip", ctx.params.slip)',
     'slips = ctx.draw.bernoulli("slip", ctx.params.slip) & (state.position > 0)'),
)


def test_a_draw_that_is_not_used_may_be_anything(relation: Relation) -> None:
    outcome = relation("invariant_sweep.unused_draws", "toywalk", *CAREFUL)
    assert outcome.status == "passed", outcome.message
    assert outcome.parts["unused_draws"].evidence["unused_values"] > 10


def test_a_draw_used_where_the_rules_draw_nothing_is_found(relation: Relation) -> None:
    careless = ("fast.py", CAREFUL[1][1], CAREFUL[1][2].replace("> 0", "> -2"))
    outcome = relation("invariant_sweep.unused_draws", "toywalk", CAREFUL[0], careless)
    assert outcome.status == "failed"
    assert "a draw that the row does not use changes it: slip" in outcome.message


def test_nothing_declared_is_skipped_with_the_reason(relation: Relation) -> None:
    outcome = relation("invariant_sweep.symmetries", "counter")
    assert outcome.status == "passed"
    assert outcome.parts["symmetries"].status == "skipped"
    assert "no relations.py" in outcome.parts["symmetries"].message


def edited(tmp_path: Path, old: str, new: str) -> EnvPackage:
    return load_package(copy_env("toywalk", tmp_path, [Edit("relations.py", old, new)]))


def test_a_relation_that_is_never_exercised_is_no_pass(relation: Relation, tmp_path: Path) -> None:
    never = edited(tmp_path, "state.position == LEFT_END", "state.position < LEFT_END")
    assert relation("invariant_sweep.no_op", never).status == "inconclusive"


def test_a_symmetry_that_changes_nothing_is_no_pass(relation: Relation, tmp_path: Path) -> None:
    idle = edited(tmp_path, "action=lambda action: 1 - action", "action=lambda action: action")
    idle = load_package(idle.folder)
    (idle.folder / "relations.py").write_text(
        (idle.folder / "relations.py").read_text("utf-8").replace('{"slip": ~drawn["slip"]}', "{}"), "utf-8"
    )
    outcome = relation("invariant_sweep.symmetries", idle)
    assert outcome.status == "inconclusive"
    assert "changes no visited state" in outcome.message


def test_an_unknown_field_and_a_stranger_are_refused(relation: Relation, tmp_path: Path) -> None:
    unknown = edited(tmp_path, '"info.distance"', '"info.way"')
    outcome = relation("invariant_sweep.derived_fields", unknown)
    assert outcome.status == "failed"
    assert "info.way" in outcome.message
    strange = edited(tmp_path / "other", "RELATIONS = [", "RELATIONS = [\n    'mirror',")
    assert "no relation" in relation("invariant_sweep.derived_fields", strange).message


def test_relations_are_part_of_the_digest() -> None:
    assert "envs/toywalk/relations.py" in compute_digest(package("toywalk")).subjects
    assert [one.name for one in declared(Bench(package("cartpole")))] == ["mirror", "observation"]


def test_moments_are_of_the_first_step_and_of_later_episodes() -> None:
    at = moments(Bench(package("forager"), quick=True))
    assert not at.state.ended.any()
    assert (at.state.t == 0).any()
    assert at.state.episode.max() >= 0
    assert len(at) == len(at.seeds) == at.action.shape[0]


def test_fresh_memory_is_filled_only_for_a_while() -> None:
    before = torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory
    with filled_memory():
        assert torch.empty(3).isnan().all()
        assert (torch.empty(3, dtype=torch.int32) == 2**31 - 1).all()
    after = torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory
    assert before == after
