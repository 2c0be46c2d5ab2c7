"""tests/benchmarks/training_reference.py: stepped references give what the batched twin gives, ratios are by round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import training_reference
from gymnasium.vector import AutoresetMode

import simulacrum  # noqa: F401  # registers the ids
from simulacrum.contract.package import load_package
from simulacrum.engine.vector import SimulacrumVectorEnv

ROWS, STEPS = 5, 120


@pytest.mark.parametrize("name", ["toywalk", "forager"])
def test_both_sides_give_a_trainer_the_same_bits(name: str) -> None:
    package = load_package(name)
    slow = training_reference.Stepped(package.schema.id, ROWS)
    fast = SimulacrumVectorEnv(package, num_envs=ROWS, autoreset_mode=AutoresetMode.SAME_STEP)
    seen, told = slow.reset(seed=3), fast.reset(seed=3)
    assert torch.equal(seen[0], told[0])
    generator, ended = torch.Generator().manual_seed(1), 0
    for _ in range(STEPS):
        actions = torch.randint(0, int(slow.single_action_space.n), (ROWS,), generator=generator)
        *theirs, info = slow.step(actions)
        *ours, more = fast.step(actions)
        for one, other in zip(theirs, ours, strict=True):
            assert one.dtype == other.dtype
            assert torch.equal(one, other)
        rows = info["_episode"]
        assert torch.equal(rows, more["_episode"])
        assert torch.equal(info["final_obs"][rows], more["final_obs"][rows])
        assert torch.equal(info["episode"]["l"][rows], more["episode"]["l"][rows])
        assert torch.allclose(info["episode"]["r"][rows], more["episode"]["r"][rows].float(), atol=1e-5)
        ended += int(rows.sum())
    assert ended > 0
    slow.close()
    fast.close()


def window(seconds: float, parameters: str) -> dict[str, Any]:
    return {"steps": 1000, "cpu": seconds, "wall": 2 * seconds, "parts": {"parameters": parameters}}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """What the two processes would answer, window by window."""
    answers: dict[str, list[dict[str, Any]]] = {}

    class Trainer:
        def __init__(self, side: str, env_id: str, settings: dict[str, Any], window: int) -> None:
            self.left = iter(answers[side])

        def window(self) -> dict[str, Any]:
            return next(self.left)

        def close(self) -> None:
            pass

    monkeypatch.setattr(training_reference, "Trainer", Trainer)
    return answers


def test_ratios_are_of_the_same_round(told: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told["reference"] = [window(s, str(s)) for s in (40, 400, 40)]  # a machine that is slow for one round
    told["native"] = [window(s / 40, str(s)) for s in (40, 400, 40)]
    results = training_reference.main(["toywalk", "--rounds", "3", "--out", str(tmp_path)])
    assert results["environments"]["simulacrum/toywalk-v0"]["ratios"] == {"cpu": 40.0, "wall": 40.0}
    assert "| simulacrum/toywalk-v0 | 25 | 1,000 | 40.0 | 40.0 |" in capsys.readouterr().out
    assert (tmp_path / "training-reference.json").is_file()


def test_two_that_learn_differently_are_not_compared(told: dict[str, Any]) -> None:
    told["reference"], told["native"] = [window(4, "a"), window(4, "b")], [window(1, "a"), window(1, "c")]
    with pytest.raises(SystemExit, match="after 2 windows"):
        training_reference.compare("simulacrum/toywalk-v0", {}, 2, 1)
