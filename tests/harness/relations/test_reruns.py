"""M6, M8 to M12 and M17, each on a twin or an engine that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from simulacrum.engine import batches
from simulacrum.engine.boundary import Core, merge
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.relations.action_forms import forms_of
from simulacrum.harness.relations.threads import threads

Relation = Callable[..., Outcome]
MOVE = "move = self._move(action, slips)  # R4: int32 [N]"
BY_THREADS = ("fast.py", MOVE, f"{MOVE}\n        move = move if torch.get_num_threads() < 2 else -move")
BY_BATCH = ("fast.py", MOVE, f"{MOVE}\n        move = move if len(move) > 17 else -move")
SHARED = (
    "fast.py", MOVE,
    f"{MOVE}\n        kind = type(self)\n        kind.size, size = len(move), getattr(kind, 'size', len(move))\n"
    "        move = move if size == len(move) else -move",
)  # fmt: skip
IN_PLACE = ("fast.py", "(state.position + move).clamp(", "state.position.add_(move).clamp_(")
COUNTING = (
    "fast.py", MOVE, f"self.calls = getattr(self, 'calls', 0) + 1\n        {MOVE}\n"
    "        move = move * (1 - self.calls // 30 % 2)",
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "edit", "said"),
    [
        ("threads_and_chunks", BY_THREADS, "2 threads in place of one"),
        ("threads_and_chunks", BY_BATCH, "as a batch of their own"),
        ("interleaved_envs", SHARED, "another env stepped in turn"),
        ("looking_changes_nothing", IN_PLACE, "was changed by step"),
        ("snapshot_and_restore", COUNTING, "a saved state in a new env"),
        ("run_again", COUNTING, "a second run"),
    ],
)
def test_each_relation_finds_its_fault(relation: Relation, path: str, edit: tuple[str, str, str], said: str) -> None:
    outcome = relation(f"determinism.{path}", "toywalk", edit)
    assert outcome.status == "failed"
    assert said in outcome.message or said.replace("saved state in a new env", "deep copy") in outcome.message


def test_threads_are_as_many_as_before() -> None:
    before = torch.get_num_threads()
    with threads(before + 2):
        assert torch.get_num_threads() == before + 2
    assert torch.get_num_threads() == before


def test_what_only_another_process_restores_otherwise_is_found(relation: Relation) -> None:
    edits = (
        ("fast.py", "from typing import Any\n", "import os\nfrom typing import Any\n"),
        ("fast.py", "where = state.position.to(torch.float32) / GOAL",
         "where = state.position.to(torch.float32) / (os.getpid() % 997)"),
    )
    outcome = relation("determinism.snapshot_and_restore", "toywalk", *edits)
    assert outcome.status == "failed"
    assert "the restored rollout has other bits in a fresh process" in outcome.message


@pytest.mark.parametrize("name", ["toywalk", "dials", "glider", "rivals", "canvas"])
def test_actions_of_every_form_are_the_same(relation: Relation, name: str) -> None:
    outcome = relation("determinism.action_forms", name)
    assert outcome.status == "passed", outcome.message
    assert outcome.parts["action_forms"].evidence["forms"] >= 8


def test_an_action_that_is_read_in_another_dtype_is_found(
    relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = batches.to_tensors

    def bytes_alone(group: Any, action: Any, num_envs: int, device: Any) -> Any:
        made = sound(group, action, num_envs, device)
        return made * 0 if isinstance(action, torch.Tensor) and action.dtype == torch.int16 else made

    monkeypatch.setattr(batches, "to_tensors", bytes_alone)
    outcome = relation("determinism.action_forms", "toywalk")
    assert outcome.status == "failed"
    assert "a tensor of int16" in outcome.message


def test_an_edit_of_the_callers_actions_is_found(relation: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = batches.to_tensors

    def editing(group: Any, action: Any, num_envs: int, device: Any) -> Any:
        made = sound(group, action, num_envs, device).clone()
        if isinstance(action, torch.Tensor):
            action.zero_()
        return made

    monkeypatch.setattr(batches, "to_tensors", editing)
    outcome = relation("determinism.action_forms", "toywalk")
    assert outcome.status == "failed"
    assert "edits the caller's actions" in outcome.message


def test_a_form_is_left_out_where_the_space_does_not_fit_it(relation: Relation) -> None:
    from kit import package

    assert "a tensor of uint8" in forms_of(Bench(package("toywalk")))
    assert not any("int" in name for name in forms_of(Bench(package("glider"))) if "of int" in name)


def test_a_reset_that_reaches_too_far_is_found(relation: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(self: Core, es: Any, mask: Any, seed: Any, episode: Any, params: Any) -> Any:
        return merge(mask | mask.roll(1), self.fresh(seed, episode, params), es)

    monkeypatch.setattr(Core, "reset", wide)
    outcome = relation("auto_reset.partial_reset", "toywalk")
    assert outcome.status == "failed"
    assert "after a reset by hand" in outcome.message


def test_a_reset_that_takes_the_same_episode_again_is_found(
    relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = Core.reset

    def again(self: Core, es: Any, mask: Any, seed: Any, episode: Any, params: Any) -> Any:
        return sound(self, es, mask, seed, (episode - 1).clamp(min=0), params)

    monkeypatch.setattr(Core, "reset", again)
    assert relation("auto_reset.partial_reset", "toywalk").status == "failed"


def test_a_cut_one_step_early_is_found(relation: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Core._advance

    def early(self: Core, es: Any, action: Any, params: Any, limit: Any) -> Any:
        return sound(self, es, action, params, limit if limit is None or limit < 2 else limit - 1)

    monkeypatch.setattr(Core, "_advance", early)
    outcome = relation("auto_reset.longer_horizon", "toywalk")
    assert outcome.status == "failed"
    assert "differs between the limits" in outcome.message
    assert outcome.divergence is not None


def test_a_rule_that_looks_at_the_time_limit_is_found(
    relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = Core._advance

    def generous(self: Core, es: Any, action: Any, params: Any, limit: Any) -> Any:
        after, reward, flags = sound(self, es, action, params, limit)
        return after, torch.where(after.t + 1 == limit, reward + 1, reward), flags

    monkeypatch.setattr(Core, "_advance", generous)
    outcome = relation("auto_reset.longer_horizon", "toywalk")
    assert outcome.status == "failed"
    assert "reward" in outcome.message
