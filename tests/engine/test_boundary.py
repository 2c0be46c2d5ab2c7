"""The batched clock against one reference row each, in all modes, and against itself in other batches."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from kit import FOLDER, NAMES, package
from kit.oracle import Row, RowOracle, row_of
from kit.tools import MODES, Actor, advance, assert_same, play, rows, vector

from simulacrum.contract.package import load_package
from simulacrum.engine.boundary import Core, core_of, draw_layout
from simulacrum.errors import TwinError
from simulacrum.twin.batched import BatchedEnv, Transition

ALL = (*NAMES, "toywalk", "forager")
GOALS = {"goal": [1, 2, 3, 1000, 3], "cut": [1000, 2, 1000, 1000, 4], "spread": [0, 0, 0, 1, 0]}


def same(ours: Any, expected: Any) -> bool:
    a, b = np.asarray(ours), np.asarray(expected)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_row(ours: Any, expected: Any, what: str) -> None:
    if isinstance(expected, dict):
        assert set(ours) == set(expected), what
        for key, value in expected.items():
            assert same(ours[key], value), f"{what}.{key}: {ours[key]} is not {value}"
    else:
        assert same(ours, expected), f"{what}: {ours} is not {expected}"


def check(out: tuple[Any, ...], row: int, expected: Row, what: str) -> None:
    observation, reward, terminated, truncated, info = out
    assert_row(row_of(observation, row), expected.observation, f"{what} observation")
    flags = (reward[row].item(), terminated[row].item(), truncated[row].item())
    assert flags == (expected.reward, expected.terminated, expected.truncated), what
    for name, value in expected.info.items():
        assert same(info[name][row], value), f"{what} info {name}"
    if expected.action_mask is not None:
        assert same(info["action_mask"][row], expected.action_mask), f"{what} mask"
    ended = expected.episode is not None
    assert info["_episode"][row].item() is ended, what
    if expected.episode is not None:
        assert (info["episode"]["r"][row].item(), info["episode"]["l"][row].item()) == expected.episode, what
    assert info.get("autoreset", torch.zeros(row + 1, dtype=torch.bool))[row].item() is expected.was_reset, what
    if "final_obs" in info:
        assert info["_final_obs"][row].item() is info["_final_info"][row].item() is ended, what
        if ended:
            assert_row(row_of(info["final_obs"], row), expected.final_observation, f"{what} final")
            assert_row(row_of(info["final_info"], row), expected.final_info, f"{what} final info")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ALL)
def test_each_row_is_one_reference_in_every_mode(name: str, mode: str) -> None:
    params = GOALS if name == "counter" else {}
    limit = {"toywalk": 20, "forager": 25}.get(name, package(name).schema.max_episode_steps)
    env = vector(name, 5, autoreset_mode=mode, params=params, max_episode_steps=limit)
    each = [{key: values[row] for key, values in params.items()} for row in range(5)]
    oracles = [RowOracle(package(name), mode, 40 + row, limit, each[row]) for row in range(5)]
    observation, _ = env.reset(seed=40)
    for row, oracle in enumerate(oracles):
        assert_row(row_of(observation, row), oracle.reset(), f"row {row} reset")
    actor, ends = Actor(env, seed=3), 0
    for step in range(45):
        if mode == "disabled":
            for oracle in oracles:
                if oracle.pending:
                    oracle.reset(seeded=False)
        action = actor()
        out = advance(env, action)
        for row, oracle in enumerate(oracles):
            expected = oracle.step(row_of(action, row))
            ends += expected.episode is not None
            check(out, row, expected, f"step {step} row {row}")
    assert ends >= 5


def test_toywalk_meets_ends_of_both_kinds() -> None:
    env = vector("toywalk", 8, max_episode_steps=12)
    env.reset(seed=0)
    outs = play(env, 60)
    assert torch.stack([out[2] for out in outs]).any()
    assert torch.stack([out[3] for out in outs]).any()


@pytest.mark.parametrize("mode", MODES)
def test_limit_one_ends_every_step(mode: str) -> None:
    env = vector("counter", 3, autoreset_mode=mode, max_episode_steps=1)
    env.reset(seed=0)
    for step in range(6):
        observation, reward, terminated, truncated, info = advance(env, [0, 1, 0])
        resets = mode == "next_step" and step % 2 == 1
        assert truncated.tolist() == [not resets] * 3
        assert not terminated.any()
        assert reward.tolist() == [0.0 if resets else 1.0] * 3
        assert observation[:, 0].tolist() == [0.0 if resets or mode == "same_step" else 1.0] * 3
        assert info["episode"]["l"].tolist() == [0 if resets else 1] * 3


@pytest.mark.parametrize("mode", MODES)
def test_no_limit_never_truncates(mode: str) -> None:
    env = vector("counter", 2, autoreset_mode=mode, max_episode_steps=None)
    env.reset(seed=0)
    outs = play(env, 30)
    assert not torch.stack([out[2] | out[3] for out in outs]).any()
    assert outs[-1][0][:, 0].tolist() == [30.0, 30.0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ALL)
def test_a_row_alone_anywhere_is_the_same(name: str, mode: str) -> None:
    env = vector(name, 7, autoreset_mode=mode, max_episode_steps=5)
    env.reset(seed=11)
    whole = play(env, 14, Actor(env))
    for index in ([0], [6], [3, 1], [6, 5, 4, 3, 2, 1, 0], [2] * 33):
        other = vector(name, len(index), autoreset_mode=mode, max_episode_steps=5)
        other.reset(seed=[11 + row for row in index])
        for step, out in enumerate(play(other, 14, Actor(other, row_ids=index))):
            assert_same(out, tuple(rows(part, index) for part in whole[step]), f"rows {index} step {step}")


def test_the_state_given_to_a_step_is_not_changed() -> None:
    env = vector("forager", 3)
    env.reset(seed=0)
    _, step = env.functional()
    before = env.state
    kept = type(before)(*(part if isinstance(part, tuple) else part.clone() for part in before))
    kept = kept._replace(env=type(before.env)(*(part.clone() for part in before.env)))
    first = step(before, torch.zeros(3, dtype=torch.int64), env.params)
    assert_same(tuple(before), tuple(kept))
    assert_same(step(before, torch.zeros(3, dtype=torch.int64), env.params), first)


# --- twins that return what the schema does not allow ---------------------------------------------------------


class Bent(BatchedEnv):
    """counter with one thing wrong, chosen by `fault`."""

    fault = ""

    def reset(self, ctx: Any) -> Any:
        count = ctx.draw.integers("start", 4)
        mark = ctx.draw.integers("mark", 65536)
        return (count, mark) if self.fault == "tuple" else self.State(count=count, mark=mark)

    def step(self, state: Any, action: Any, ctx: Any) -> Transition:
        reward = torch.ones_like(state.count, dtype=torch.float64 if self.fault == "reward" else torch.float32)
        never = torch.zeros_like(state.count, dtype=torch.int32 if self.fault == "terminated" else torch.bool)
        count = state.count[:1] if self.fault == "shape" else state.count + 1
        truncated = never[:1] if self.fault == "truncated" else False
        if self.fault == "slot":
            ctx.draw.integers("start", 4)
        return Transition(state.replace(count=count), reward, never, truncated)

    def observe(self, state: Any, ctx: Any) -> Any:
        if self.fault == "draw":
            ctx.draw.integers("mark", 3)
        one = state.count.to(torch.float32)
        return [one, one] if self.fault == "list" else torch.stack([one, one], dim=-1)

    def action_mask(self, state: Any, ctx: Any) -> Any:
        return torch.ones((state.count.shape[0], 3 if self.fault == "mask" else 2), dtype=torch.bool)

    def info(self, state: Any, ctx: Any) -> Any:
        return {} if self.fault == "info" else {"count": state.count, "success": state.count > 3}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("tuple", "not its State struct"),
        ("reward", "reward has the wrong shape or dtype"),
        ("terminated", "terminated has the wrong shape or dtype"),
        ("truncated", "truncated has the wrong shape or dtype"),
        ("shape", r"state\.count has the wrong shape"),
        ("list", "observation is not a tensor"),
        ("mask", "action_mask has the wrong shape"),
        ("info", "info has other keys"),
        ("slot", "start"),
        ("draw", "outside reset and step"),
    ],
)
def test_a_twin_that_breaks_its_schema_is_named(fault: str, words: str) -> None:
    from simulacrum.errors import DrawError

    twin = Bent(package("counter").schema)
    twin.fault = fault
    core = Core(twin, 5)
    zero = torch.zeros(3, dtype=torch.int32)
    params = vector("counter", 3).params

    def run() -> None:
        state = core.fresh(torch.zeros((3, 2), dtype=torch.int32), zero, params)
        core.observe(state, params)
        core.step(AutoresetMode.NEXT_STEP, state, zero.to(torch.int64), params)

    with pytest.raises((TwinError, DrawError), match=words):
        run()
    twin.fault = ""
    run()


def test_flags_may_be_plain_bools_for_all_rows() -> None:
    class Plain(Bent):
        def step(self, state: Any, action: Any, ctx: Any) -> Transition:
            return super().step(state, action, ctx)._replace(terminated=True, truncated=None)

    core, params = Core(Plain(package("counter").schema), None), vector("counter", 2).params
    zero = torch.zeros(2, dtype=torch.int32)
    state = core.fresh(torch.zeros((2, 2), dtype=torch.int32), zero, params)
    _, out = core.step(AutoresetMode.DISABLED, state, zero.to(torch.int64), params)
    assert out.terminated.tolist() == [True, True]
    assert out.truncated.tolist() == [False, False]


# --- cores ----------------------------------------------------------------------------------------------------


def test_a_core_is_shared_by_package_and_limit() -> None:
    assert core_of(package("counter"), 5) is core_of(package("counter"), 5)
    assert core_of(package("counter"), 5) is not core_of(package("counter"), 6)


def test_an_edited_package_gets_a_core_of_its_own(tmp_path: Any) -> None:
    import shutil

    from simulacrum.contract.package import load_package

    folder = tmp_path / "counter"
    shutil.copytree(package("counter").folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    copy = load_package(folder)
    old = core_of(copy, 5)
    (folder / "fast.py").write_text((folder / "fast.py").read_text().replace("count + 1", "count + 2"))
    copy.reload()
    assert core_of(copy, 5) is not old
    env = vector("counter", 2)
    env = type(env)(copy, 2)
    env.reset(seed=0)
    assert env.step([0, 0])[0][:, 0].tolist() == [2.0, 2.0]


def test_the_slots_drawn_are_noted_and_the_ledger_lists_words() -> None:
    core = Core(package("toywalk").fast(), 60)
    params = vector("toywalk", 3).params
    core.ledger = {}
    state = core.fresh(torch.zeros((3, 2), dtype=torch.int32), torch.zeros(3, dtype=torch.int32), params)
    assert core.used == {"start"}
    core.step(AutoresetMode.NEXT_STEP, state, torch.zeros(3, dtype=torch.int64), params)
    assert core.used == {"start", "slip"}
    assert set(core.ledger["step"]) == {"slip"}
    core.override = {"start": 2}
    forced = core.fresh(torch.zeros((3, 2), dtype=torch.int32), torch.zeros(3, dtype=torch.int32), params)
    assert forced.env.position.tolist() == [2, 2, 2]
    assert [slot.name for slot in draw_layout(package("toywalk").schema).slots] == ["start", "slip"]


def test_invariants_are_computed_by_name() -> None:
    env = vector("toywalk", 3)
    env.reset(seed=0)
    held = env.core.invariants(env.state, env.params)
    assert {name: value.tolist() for name, value in held.items()} == {
        "on_the_line": [True] * 3,
        "within_reach": [True] * 3,
    }


def test_compiled_steps_outlive_the_package_object_that_came_first(tmp_path: Path) -> None:
    """Several equal packages share one core; the first of them being collected must not take it from the others."""
    shutil.copytree(FOLDER / "counter", tmp_path / "counter")
    first, second = load_package(tmp_path / "counter"), load_package(tmp_path / "counter")
    core = core_of(first, 5)
    assert core_of(second, 5) is core
    del first
    gc.collect()
    assert core_of(second, 5) is core
