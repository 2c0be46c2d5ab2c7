"""Faults of many kinds planted in small twins: what the failure is said to look like names the kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants.mutant import Edit, Mutant, copy_env
from mutants.table import TWINS

from simulacrum.contract.package import load_package
from simulacrum.harness.bench import Bench
from simulacrum.harness.diagnosis import diagnose, ranked
from simulacrum.harness.diagnosis.view import Clue
from simulacrum.harness.running import run_check
from simulacrum.trace.divergence import Divergence

MOVE = "move = self._move(action, slips)  # R4: int32 [N]"
# Faults that the table of the mutants does not have, in toywalk: (kind, old, new, check).
PLANTED = (
    ("K06", "at_goal = position == GOAL", "at_goal = (position == GOAL) | (ctx.t >= 2)", "differential.rollouts"),
    ("K10", 'ctx.draw.bernoulli("slip", ctx.params.slip)', '~ctx.draw.bernoulli("slip", 1.0 - ctx.params.slip)',
     "differential.rollouts"),
    ("K14", "GOAL_REWARD, step_reward)", "float('nan'), step_reward)", "differential.rollouts"),
    ("K20", "GOAL_REWARD, step_reward)", "GOAL_REWARD, -step_reward)", "differential.rollouts"),
    ("K23", MOVE, f"{MOVE}\n        move = -move if len(move) % 16 == 0 else move", "batch_independence"),
)
# Of the table, one of each kind that is quickly met.
QUICKLY = ("K01", "K02 the", "K05", "K06", "K07", "K13 a", "K17", "K18", "K23")


def failed(folder: Path, scratch: Path, check: str) -> Divergence:
    name, asked = check.partition(".")[0], frozenset({check} if "." in check else ())
    bench = Bench(load_package(folder), forms=("eager",), quick=True, failures=scratch / "failures", asked=asked)
    outcome, _ = run_check(bench, name)
    assert outcome.divergence is not None, outcome.message
    return outcome.divergence


@pytest.mark.parametrize("planted", PLANTED, ids=lambda one: one[0])
def test_what_it_looks_like_names_the_kind(planted: tuple[str, str, str, str], tmp_path: Path) -> None:
    kind, old, new, check = planted
    found = failed(copy_env("toywalk", tmp_path, [Edit("fast.py", old, new)]), tmp_path, check)
    assert kind in [likely.kind for likely in found.diagnosis], found.diagnosis
    assert all(likely.why and likely.title for likely in found.diagnosis)
    assert 1 <= len(found.diagnosis) <= 3


@pytest.mark.parametrize(
    "mutant", [one for one in TWINS if one.name.startswith(QUICKLY) and one.env == "toywalk"], ids=lambda one: one.name
)
def test_mutants_of_the_table_are_named_and_small(mutant: Mutant, tmp_path: Path) -> None:
    check = "batch_independence" if mutant.name.startswith("K23") else "differential.rollouts"
    found = failed(copy_env(mutant.env, tmp_path, mutant.edits), tmp_path, check)
    assert found.shrunk is not None
    assert found.shrunk.verified
    assert found.shrunk.case.steps <= 1
    assert mutant.name[:3] in [likely.kind for likely in found.diagnosis], found.diagnosis


def test_a_history_outside_the_state_is_two_steps(tmp_path: Path) -> None:
    new = (
        f"{MOVE}\n        kept = getattr(self, 'kept', None)\n"
        "        if kept is not None and kept.shape == move.shape:\n"
        "            move = torch.where((kept == state.position) & (state.position > 0), -move, move)\n"
        "        self.kept = state.position - 1"
    )
    found = failed(copy_env("toywalk", tmp_path, [Edit("fast.py", MOVE, new)]), tmp_path, "differential.rollouts")
    assert found.shrunk is not None
    assert found.shrunk.verified
    assert found.shrunk.case.steps == 2
    assert [likely.kind for likely in found.diagnosis][:2] == ["K19", "K09"]


def test_what_does_not_show_again_is_said_so(tmp_path: Path) -> None:
    new = f"{MOVE}\n        move = torch.where(torch.rand(move.shape) < 0.1, -move, move)"
    found = failed(copy_env("toywalk", tmp_path, [Edit("fast.py", MOVE, new)]), tmp_path, "differential.rollouts")
    if found.shrunk is None or not found.shrunk.verified:
        assert "test" not in found.files
        assert found.diagnosis[0].kind == "K11"


def test_the_strongest_clue_of_a_kind_counts() -> None:
    clues = [Clue("K20", 3, "a"), Clue("K04", 8, "b"), Clue("K20", 5, "c"), Clue("K12", 5, "d"), Clue("K05", 1, "e")]
    assert [(one.kind, one.why) for one in ranked(clues)] == [("K04", "b"), ("K20", "c"), ("K12", "d")]
    assert ranked([]) == ()


@pytest.mark.long
def test_a_fault_of_the_native_form_names_its_layer(tmp_path: Path) -> None:
    old = "return right.to(torch.int32) * 2 - 1"
    new = "return right.to(torch.int32) * (1 if torch.compiler.is_compiling() else 2) - 1"
    folder = copy_env("toywalk", tmp_path, [Edit("fast.py", old, new)])
    bench = Bench(load_package(folder), forms=("eager", "native"), quick=True, failures=tmp_path / "failures")
    found = run_check(bench, "benchmark_factory_parity")[0].divergence
    assert found is not None
    assert found.shrunk is not None
    assert (found.shrunk.case.form, found.shrunk.case.num_envs, found.shrunk.case.steps) == ("native", 1, 1)
    assert found.diagnosis[0].kind == "K23"
    assert "the captured graph is the first layer that differs" in found.diagnosis[0].why
    assert diagnose(bench.package, found) == found.diagnosis
