from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from kit import NAMES, package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import load_package
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.coverage import Coverage
from simulacrum.harness.lockstep import Lockstep


def bench(name: str, tmp_path: Path) -> Bench:
    return Bench(package(name), failures=tmp_path)


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_sound_twins_stay_together(name: str, mode: AutoresetMode, tmp_path: Path) -> None:
    one = bench(name, tmp_path)
    lock = Lockstep(one, one.env(7, mode=mode, limit=6, params=one.row_params(7, 1)))
    driver = drivers.standard(one.schema, 7, 2)
    assert lock.run(driver, seeds_for(7, 3), episodes=3, most=40) is None
    assert int(lock.episodes.min()) >= 3
    assert lock.transitions == 7 * len(lock.actions)
    assert one.covered["ended"] == int(lock.episodes.sum())
    assert all(one.covered[f"slot:{draw.name}"] for draw in one.schema.draws if draw.phase == "reset")


def test_a_run_goes_on_for_the_least_number_of_steps(tmp_path: Path) -> None:
    one = bench("toywalk", tmp_path)
    lock = Lockstep(one, one.env(2, limit=1))
    lock.run(drivers.standard(one.schema, 2, 0), [1, 2], episodes=1, most=50, least=9)
    assert len(lock.actions) == 9


def test_a_sample_of_rows_is_compared_in_a_large_batch(tmp_path: Path) -> None:
    folder = copy_env("toywalk", tmp_path, [Edit(
        "fast.py", "return torch.where(at_goal, GOAL_REWARD, step_reward)",
        "last = torch.arange(len(at_goal)) == 299\n"
        "        return torch.where(at_goal, GOAL_REWARD, step_reward) + last.to(torch.float32) * 0.5",
    )])  # fmt: skip
    one = Bench(load_package(folder), failures=tmp_path / "failures")
    driver = drivers.standard(one.schema, 300, 0)
    blind = Lockstep(one, one.env(300), rows=[0, 5])
    assert blind.run(driver, seeds_for(300, 1), episodes=1, most=3) is None
    seeing = Lockstep(one, one.env(300), rows=[0, 299])
    found = seeing.run(driver, seeds_for(300, 1), episodes=1, most=3)
    assert found is not None
    assert (found.row, found.difference.path) == (299, "reward")


def test_the_lowest_row_of_the_earliest_step_is_told(tmp_path: Path) -> None:
    folder = copy_env("toywalk", tmp_path, [Edit(
        "fast.py", "where = state.position.to(torch.float32) / GOAL",
        "odd = (torch.arange(len(ctx.t)) % 3 == 2) & (ctx.t == 4)\n"
        "        where = torch.where(odd, -0.0, state.position.to(torch.float32) / GOAL)",
    )])  # fmt: skip
    one = Bench(load_package(folder), failures=tmp_path / "failures")
    lock = Lockstep(one, one.env(12))
    found = lock.run(drivers.Constant(one.schema, 12, 0), list(range(12)), episodes=1, most=20)
    assert found is not None
    assert (found.row, found.t, found.step, found.difference.path) == (2, 3, 3, "observation[0]")
    assert found.difference.batched.bits == "0x80000000"


def test_policies_are_asked_only_where_something_is_to_be_decided(tmp_path: Path) -> None:
    one = bench("toywalk", tmp_path)
    lock = Lockstep(one, one.env(3, limit=1), rows=[0, 2])
    lock.reset([1, 2, 3])
    observation, state, t = lock.reading(2) or (None, None, None)
    assert t == 0
    assert observation is not None
    assert float(observation[0]) == float(np.float32(state.position) / np.float32(5))
    assert lock.reading(1) is None  # no reference stands beside it
    lock.step(np.array([0, 0, 0]))
    assert lock.reading(0) is None  # ended


def test_rules_and_lines_are_seen_to_run(tmp_path: Path) -> None:
    one = bench("forager", tmp_path)
    coverage = Coverage(one.package)
    assert {"R2", "R9", "R14"} <= set(coverage.rules)
    assert not {"R1", "R15", "R20"} & set(coverage.rules)  # the engine's, and an invariant
    assert coverage.unmet == list(coverage.rules) or set(coverage.unmet) == set(coverage.rules)
    lock = Lockstep(one, one.env(8))
    with coverage.watching():
        lock.reset(seeds_for(8, 1))
    assert "R9" in coverage.unmet
    assert "R2" not in coverage.unmet
    with coverage.watching():
        lock.run(drivers.standard(one.schema, 8, 0), seeds_for(8, 1), episodes=1, most=30)
    assert coverage.unmet == []
