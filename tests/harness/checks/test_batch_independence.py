from __future__ import annotations

from collections.abc import Callable

import pytest
from kit import NAMES

from simulacrum.contract.package import EnvPackage
from simulacrum.harness.bench import Outcome
from simulacrum.trace.divergence import read_divergence

LEAK = ("fast.py", "elapsed = ctx.t.clamp(", "elapsed = ctx.t.amax().expand_as(ctx.t).clamp(")
BY_SIZE = (
    "fast.py",
    "move = self._move(action, slips)  # R4: int32 [N]",
    "move = self._move(action, slips)\n        if len(move) % 16 == 0:\n            move = -move",
)


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
def test_rows_of_sound_twins_are_alike_alone_and_in_company(check: Callable[..., Outcome], name: str) -> None:
    outcome = check("batch_independence", name)
    assert outcome.status == "passed", outcome.message
    assert {1, 2, 7, 16, 17, 33} <= set(outcome.evidence["batch_sizes"])
    assert outcome.evidence["compared_transitions"] > 5000
    assert outcome.evidence["episodes_ended"] > 100


def test_a_leak_names_row_size_and_neighbours(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    outcome = check("batch_independence", changed("toywalk", LEAK))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.difference.path == "observation[1]"
    assert "neighbours' values leak" in outcome.message
    assert outcome.divergence.configuration.num_envs > 1


def test_an_effect_of_the_size_alone_is_told_from_a_leak(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    outcome = check("batch_independence", changed("toywalk", BY_SIZE))
    assert outcome.status == "failed"
    assert outcome.divergence is not None
    assert outcome.divergence.configuration.num_envs == 16
    assert "the batch's size" in outcome.message


def test_the_failure_file_holds_the_row_alone_and_the_row_in_company(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    outcome = check("batch_independence", changed("toywalk", LEAK))
    assert outcome.divergence is not None
    record = read_divergence(outcome.divergence.files["record"])
    assert record.check == "batch_independence"
    assert {"record", "reference", "batched"} <= set(record.files)
    assert any("the row alone" in hint for hint in record.hints)


def test_episodes_too_long_to_end_are_ended_by_a_shorter_clock(
    check: Callable[..., Outcome], changed: Callable[..., EnvPackage]
) -> None:
    """A run of 200 steps says nothing of whole episodes where the clock ends them after 5,000."""
    edits = [
        ("schema.json", '"x-max-episode-steps": 60', '"x-max-episode-steps": 5000'),
        ("reference.py", "terminated = position == GOAL  # R7", "terminated = False  # R7"),
        ("fast.py", "reward, at_goal)  # R7", "reward, at_goal & False)  # R7"),
    ]
    asked = ("batch_independence.whole_episodes",)
    outcome = check("batch_independence", changed("toywalk", *edits), quick=False, asked=asked)
    assert outcome.status == "passed", outcome.message
