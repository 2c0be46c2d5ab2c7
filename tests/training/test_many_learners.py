"""training/many_learners.py at a small size: learners that do not meet, and the picture and table of all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from simulacrum.contract.package import EnvPackage
from simulacrum.errors import GateError

SMALL: dict[str, Any] = {
    "env_id": "simulacrum/toywalk-v0", "compile": "eager", "rows": 4, "num_steps": 16, "epochs": 2, "minibatches": 2,
    "width": 8, "learner_steps": 192, "eval_episodes": 2, "rates": (1e-3, 1e-2), "learners": 2, "timed": 1,
}  # fmt: skip
Script = Callable[[str], ModuleType]


@pytest.fixture
def many(script: Script) -> ModuleType:
    return script("many_learners")


def test_trains_measures_and_draws(many: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    results = many.main(many.Args(runs=tmp_path, **SMALL))
    folder = Path(results["folder"])
    assert folder.name.startswith("toywalk-v0__many__1__")
    assert (folder / "learners.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((folder / "results.json").read_text())
    assert written["kinds"] == [[1e-3, 1], [1e-3, 2], [1e-2, 1], [1e-2, 2]]
    assert len(written["reference"]) == 4
    assert [len(point) for point in written["curves"]] == [4, 4, 4]
    assert written["times_faster"] > 0


def test_a_learner_by_itself_learns_the_same(many: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    args = many.Args(runs=tmp_path, **SMALL)
    kinds = [(1e-2, 1), (1e-3, 2), (3e-3, 3)]
    together, alone = many.Learners(args, kinds), many.Learners(args, kinds[1:2])
    assert torch.equal(together.observation[4:8], alone.observation)
    for _ in range(3):
        episodes, others = together.iterate(), alone.iterate()
        assert torch.equal(episodes[:, 1], others[:, 0])
        assert (together.flat[1] - alone.flat[0]).abs().max() < 1e-4
    assert not torch.equal(together.flat[0], together.flat[1])


def test_each_learner_has_its_own_rate(many: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    learners = many.Learners(many.Args(runs=tmp_path, **SMALL), [(1e-3, 7), (1e-2, 7)])
    assert torch.equal(learners.flat[0], learners.flat[1])
    before = learners.flat.clone()
    learners.step(torch.ones_like(before))
    moved = (learners.flat - before).abs().mean(dim=1)
    assert moved[1] / moved[0] == pytest.approx(10.0, rel=1e-3)


def test_the_loss_is_that_of_the_textbook(many: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    """At the first update the policy is the one that acted: the gradient is that of advantage times log-probability."""
    args = many.Args(runs=tmp_path, **{**SMALL, "entropy": 0.0, "value_weight": 0.0})
    learners = many.Learners(args, [(1e-3, 1)])
    experience, _ = learners.collect()
    flat = learners.flat[0].clone().requires_grad_()
    logits, _ = learners.look_one(flat, experience[0, :, : learners.size])
    better = experience[0, :, learners.size + 2]
    better = (better - better.mean()) / (better.std() + 1e-8)
    taken = logits.log_softmax(-1).gather(-1, experience[0, :, learners.size].long()[:, None])[:, 0]
    (-(better * taken).mean()).backward()
    assert flat.grad is not None
    assert torch.allclose(learners.gradient(learners.flat, experience)[0], flat.grad, atol=1e-6)


@pytest.mark.parametrize("limit", ["terminated", "cut_off"])
def test_only_what_was_cut_off_is_worth_more(
    many: ModuleType, limit: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    request.getfixturevalue(limit)  # counter: 1 a step, every episode over after 7 steps
    small = {**SMALL, "env_id": "simulacrum/counter-v0", "num_steps": 14, "gae_lambda": 1.0, "gamma": 0.5}
    learners = many.Learners(many.Args(runs=tmp_path, **small), [(1e-3, 1)])
    learners.flat.zero_()
    learners.flat[:, -1] = 2.0  # the bias of the value: everything is worth 2, as a reward of 1 for ever is
    experience, _ = learners.collect()
    targets = experience[0, :, -1].view(14, 4)
    expected = [2.0] * 14
    if limit == "terminated":
        expected = [sum(0.5**k for k in range(7 - t % 7)) for t in range(14)]
    assert targets[:, 0].tolist() == pytest.approx(expected)


def test_a_closed_gate_stops_it_before_anything_is_made(many: ModuleType, toywalk: EnvPackage, tmp_path: Path) -> None:
    (toywalk.folder / "validation_report.json").unlink()
    with pytest.raises(GateError, match="toywalk"):
        many.main(many.Args(runs=tmp_path / "runs", **SMALL))
    assert not (tmp_path / "runs").exists()


def test_a_point_of_the_curve_looks_back_on_the_last_iterations(many: ModuleType) -> None:
    counts = np.array([0] + [1] * 14)
    episodes = np.stack([counts, counts * np.arange(15)], axis=1)[:, :, None].astype(float)
    curve = many.recent(episodes)[:, 0]
    assert np.isnan(curve[0])
    assert curve[1:4].tolist() == [1.0, 1.5, 2.0]
    assert curve[14] == np.arange(5, 15).mean()
