"""training/common/replay.py: a ring that keeps the newest, samples all alike, and comes back from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

Script = Callable[[str], ModuleType]


@pytest.fixture
def replay(script: Script) -> Callable[..., Any]:
    return script("common").Replay


def fill(buffer: Any, steps: range) -> None:
    for step in steps:
        number = torch.arange(buffer.rows) + buffer.rows * step
        buffer.add(number=number, vector=number[:, None] * torch.ones(3), even=number % 2 == 0)


def test_the_newest_take_the_place_of_the_oldest(replay: Callable[..., Any]) -> None:
    buffer = replay(10, rows=4)
    assert (buffer.capacity, len(buffer)) == (8, 0)
    fill(buffer, range(1))
    assert len(buffer) == 4
    fill(buffer, range(1, 5))
    assert len(buffer) == 8
    assert buffer.parts["number"].sort()[0].tolist() == list(range(12, 20))


def test_a_sample_holds_whole_transitions_and_all_are_equally_likely(replay: Callable[..., Any]) -> None:
    buffer, generator = replay(40, rows=4), torch.Generator().manual_seed(1)
    fill(buffer, range(5))
    batch = buffer.sample(20_000, generator)
    assert batch["vector"].shape == (20_000, 3)
    assert torch.equal(batch["vector"], batch["number"][:, None] * torch.ones(3))
    assert torch.equal(batch["even"], batch["number"] % 2 == 0)
    counts = batch["number"].bincount(minlength=20)
    assert len(counts) == 20  # and nothing of what is not filled yet
    assert float((counts - 1000).abs().max()) < 5 * 1000**0.5


def test_what_is_kept_is_a_copy(replay: Callable[..., Any]) -> None:
    buffer, number = replay(8, rows=4), torch.arange(4)
    buffer.add(number=number)
    number += 100
    assert buffer.parts["number"][:4].tolist() == [0, 1, 2, 3]
    state = buffer.state_dict()
    fill_again = torch.arange(4) + 50
    buffer.add(number=fill_again)
    buffer.add(number=fill_again)
    assert state["parts"]["number"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("steps", [1, 2, 3], ids=["in part", "just full", "gone round"])
def test_comes_back_from_a_checkpoint(replay: Callable[..., Any], steps: int, tmp_path: Path) -> None:
    buffer, other = replay(8, rows=4), replay(8, rows=4)
    fill(buffer, range(steps))
    torch.save(buffer.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    for kept in (buffer, other):
        fill(kept, range(steps, steps + 2))
    one, two = (kept.sample(50, torch.Generator().manual_seed(3)) for kept in (buffer, other))
    assert all(torch.equal(one[name], two[name]) and one[name].dtype == two[name].dtype for name in one)
    assert (buffer.place, buffer.size) == (other.place, other.size)


def test_wrong_use_is_named(replay: Callable[..., Any]) -> None:
    buffer = replay(8, rows=4)
    with pytest.raises(ValueError, match="empty"):
        buffer.sample(1, torch.Generator())
    with pytest.raises(ValueError, match="at least one step"):
        replay(3, rows=4)
    fill(buffer, range(1))
    with pytest.raises(ValueError, match=r"\(8, 4\), this one \(16, 4\)"):
        replay(16, rows=4).load_state_dict(buffer.state_dict())
