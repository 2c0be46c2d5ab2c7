"""The variants of forager are proper packages whose twins, and whose C program, agree to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from suite import contender, limits, ours, variants

from simulacrum.contract.agreement import check_agreement
from simulacrum.contract.package import load_package
from simulacrum.engine.runner import ReferenceRunner

SIZES = [(1, 8), (6, 8), (9, 30)]


@pytest.mark.parametrize(("berries", "size"), SIZES)
def test_spec_schema_and_code_agree(tmp_path: Path, berries: int, size: int) -> None:
    package = load_package(variants.make(tmp_path, berries, size))
    assert check_agreement(package) == []
    assert package.schema.raw["properties"]["observation"]["x-shape"] == [5 + 3 * berries]


def test_the_sizes_of_the_package_give_the_package(tmp_path: Path) -> None:
    package = load_package(variants.make(tmp_path, variants.BERRIES, variants.SIZE))
    assert package.schema.raw == load_package("forager").schema.raw
    for name in ("spec.md", "__init__.py", "fast.py"):
        assert (package.folder / name).read_bytes() == (variants.FORAGER / name).read_bytes()


@pytest.mark.parametrize(("berries", "size"), SIZES)
def test_both_twins_and_the_program_agree(tmp_path: Path, berries: int, size: int) -> None:
    package, rows = load_package(variants.make(tmp_path, berries, size)), 3
    env = ours.make(package, "eager", rows)
    limit = limits.Limit("forager", rows, {"BERRIES": berries, "SIZE": size})
    limit.reset(torch.arange(rows))
    assert torch.equal(env.reset(seed=0)[0], limit.observations)
    runners = [ReferenceRunner(package, max_episode_steps=80) for _ in range(rows)]
    for row, runner in enumerate(runners):
        runner.reset(row)
    for actions in contender.action_batches(4, rows)[:30]:
        observations, rewards, _, _, _ = env.step(actions)
        limit.step(limit.prepare(actions))
        assert torch.equal(observations, limit.observations)
        assert torch.equal(rewards, limit.rewards)
        for row, runner in enumerate(runners):
            if runner.ended:
                runner.reset()
                continue
            out = runner.step(int(actions[row]))
            assert [float(value) for value in out.observation] == observations[row].tolist()
