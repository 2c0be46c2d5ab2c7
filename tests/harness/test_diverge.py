from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import TraceError, UsageError
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.replay_step import replay_divergence
from simulacrum.trace.divergence import Divergence, read_divergence
from simulacrum.trace.failures import write_failure
from simulacrum.trace.files import read_trajectories

LATE_WALL = ("(state.position + move).clamp(LEFT_END, GOAL)", "(state.position + move).clamp(LEFT_END + 1, GOAL)")
START = ("START_HIGH + 1, low=START_LOW)", "START_HIGH + 1, low=START_LOW).abs()")
OTHER_END = (
    'ctx.draw.bernoulli("slip", ctx.params.slip)',
    '~ctx.draw.bernoulli("slip", 1.0 - ctx.params.slip)',
)
BY_ROW = (
    "move = self._move(action, slips)  # R4: int32 [N]",
    "move = self._move(action, slips)\n        move = torch.where(torch.arange(len(move)) == 5, -move, move)",
)


def faulty(tmp_path: Path, edit: tuple[str, str], env: str = "toywalk") -> EnvPackage:
    return load_package(copy_env(env, tmp_path, [Edit("fast.py", *edit)]))


def part(package: EnvPackage, tmp_path: Path, *, rows: int = 9, mode: Any = AutoresetMode.NEXT_STEP) -> Divergence:
    bench = Bench(package, failures=tmp_path / "failures", check="differential")
    lock = Lockstep(bench, bench.env(rows, mode=mode, params=bench.row_params(rows, 1)))
    found = lock.run(drivers.standard(bench.schema, rows, 4), seeds_for(rows, 4), episodes=3, most=200)
    assert found is not None
    return found


def test_a_record_says_all_there_is_to_know(tmp_path: Path) -> None:
    found = part(faulty(tmp_path, LATE_WALL), tmp_path)
    assert found.difference.path == "state.position"
    assert (found.difference.reference.decimal, found.difference.batched.decimal) == ("-5", "-4")
    assert found.previous_state == {"position": -4}
    assert found.action in (0, 1)
    assert found.rule is not None
    assert found.rule.id == "R5"
    assert [(pair.slot, pair.verdict) for pair in found.draws] == [("slip", "equal")]
    assert {other.path for other in found.others} == {"observation[0]", "info.distance"}
    assert found.counts is not None
    assert found.counts.rows_compared == 9
    assert found.configuration.num_envs == 9
    assert 0.0 <= found.configuration.params["slip"] <= 1.0
    assert found.command is not None
    assert found.command.startswith(f"simulacrum replay {found.files['record']}")


def test_the_files_hold_the_record_and_both_ways_to_it(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    found = part(package, tmp_path)
    assert read_divergence(found.files["record"]) == found
    (one,), (other,) = (
        read_trajectories(found.files[side], package.schema) for side in ("reference", "batched")
    )
    assert (one.form, other.form) == ("reference", "eager")
    assert (one.seed, other.seed) == (found.seed, found.seed)
    assert one.steps[:-1] == other.steps[:-1]
    assert one.steps[-1].state == {"position": -5}
    assert other.steps[-1].state == {"position": -4}
    assert one.steps[-1].t == found.t


def test_a_fault_of_the_start_has_no_state_before_it(tmp_path: Path) -> None:
    package = faulty(tmp_path, START)
    found = part(package, tmp_path)
    assert (found.step, found.t, found.previous_state, found.action) == (-1, 0, None, None)
    assert found.rule is not None
    assert found.rule.id == "R2"
    assert [pair.slot for pair in found.draws] == ["start"]
    result = replay_divergence(found.files["record"], package)
    assert result.differs
    assert result.same


def test_the_words_of_both_sides_stand_side_by_side(tmp_path: Path) -> None:
    found = part(faulty(tmp_path, OTHER_END), tmp_path, rows=33)
    assert [(pair.slot, pair.verdict) for pair in found.draws] == [("slip", "equal")]
    (pair,) = found.draws
    assert pair.reference == pair.batched
    assert pair.reference[0] is not None


def test_a_fault_of_everyone_shows_alone_and_in_company(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    found = part(package, tmp_path)
    result = replay_divergence(found.files["record"], package)
    assert result.same
    assert [bool(stage.found) for stage in result.stages] == [True, True, True]
    assert [stage.num_envs for stage in result.stages] == [1, 9, 9]
    assert result.message.startswith("differs as recorded")
    assert result.found is not None
    assert result.found.difference == found.difference


def test_a_fault_of_one_row_shows_only_at_its_place(tmp_path: Path) -> None:
    package = faulty(tmp_path, BY_ROW)
    found = part(package, tmp_path)
    assert found.row == 5
    result = replay_divergence(found.files["record"], package)
    assert [bool(stage.found) for stage in result.stages] == [False, True, True]
    assert result.same


def test_a_mended_twin_agrees_again(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    found = part(package, tmp_path)
    (package.folder / "fast.py").write_text(
        (package.folder / "fast.py").read_text("utf-8").replace(LATE_WALL[1], LATE_WALL[0]), "utf-8"
    )
    package.reload()
    result = replay_divergence(found.files["record"], load_package(package.folder))
    assert not result.differs
    assert result.message.startswith("agrees now: nothing differs any more")


def test_without_its_trajectories_the_step_alone_is_run(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    found = part(package, tmp_path)
    for side in ("reference", "batched"):
        Path(found.files[side]).unlink()
    result = replay_divergence(found.files["record"], package)
    assert [stage.name for stage in result.stages] == ["alone", "in its row among strangers"]
    assert result.same


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_every_mode_can_be_run_again(mode: AutoresetMode, tmp_path: Path) -> None:
    edit = ("torch.where(at_goal, GOAL_REWARD, step_reward)", "torch.where(at_goal, 9.0, step_reward)")
    package = faulty(tmp_path, edit)
    bench = Bench(package, failures=tmp_path / "failures", check="differential")
    lock = Lockstep(bench, bench.env(6, mode=mode, params={"slip": 0.0}))
    found = lock.reset([1, 2, 3, 4, 5, 6])
    steps = 0
    while found is None and steps < 20:
        found = lock.step(np.ones(6, dtype=np.int64))
        steps += 1
    assert found is not None
    assert found.difference.path == "reward"
    result = replay_divergence(found.files["record"], package)
    assert result.same, result.message


def test_a_record_of_another_environment_is_refused(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    found = part(package, tmp_path)
    with pytest.raises(UsageError, match="another environment"):
        replay_divergence(found.files["record"], load_package("forager"))


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no.json"
    with pytest.raises(TraceError):
        replay_divergence(path)
    path.write_text(json.dumps({"format": "something else"}))
    with pytest.raises(TraceError):
        replay_divergence(path)


def test_a_form_or_device_that_is_not_here_falls_back(tmp_path: Path) -> None:
    package = faulty(tmp_path, LATE_WALL)
    found = part(package, tmp_path)
    odd = replace(found, configuration=replace(found.configuration, form="unheard-of", device="cuda:7"))
    files = write_failure(odd, None, None, tmp_path / "odd", schema=package.schema)
    result = replay_divergence(files.record, package)
    assert result.differs
    assert {stage.form for stage in result.stages} == {"eager"}
