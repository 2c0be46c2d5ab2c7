"""The scalar clock."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kit import package

from simulacrum.engine.runner import ReferenceRunner
from simulacrum.errors import DrawError, TwinError
from simulacrum.twin.reference import ReferenceEnv, Transition


def test_episodes_and_statistics() -> None:
    runner = ReferenceRunner(package("counter"), params={"goal": 3}, max_episode_steps=5)
    first = runner.reset(7)
    outs = [runner.step(0) for _ in range(3)]
    assert [out.terminated for out in outs] == [False, False, True]
    assert [out.info["success"] for out in outs] == [False, False, True]
    assert (runner.t, runner.returns, runner.ended, runner.episode) == (3, 3.0, True, 0)
    assert outs[0].action_mask == (True, True)
    assert outs[2].action_mask == (True, False)
    second = runner.reset()
    assert (runner.t, runner.returns, runner.ended, runner.episode) == (0, 0.0, False, 1)
    assert second != first
    assert runner.reset(7) == first
    assert runner.reset(episode=1) == second


@pytest.mark.parametrize(
    ("goal", "cut", "flags"), [(4, 9, (True, True)), (9, 4, (False, True)), (4, 4, (True, True)), (9, 9, (False, True))]
)
def test_the_limit_truncates_whatever_the_rules_say(goal: int, cut: int, flags: tuple[bool, bool]) -> None:
    runner = ReferenceRunner(package("counter"), params={"goal": goal, "cut": cut}, max_episode_steps=4)
    runner.reset(0)
    for _ in range(3):
        out = runner.step(1)
        assert (out.terminated, out.truncated) == (False, False)
    out = runner.step(1)
    assert (out.terminated, out.truncated) == flags


def test_the_ledger_lists_the_words_of_the_last_call_and_overrides_force_values() -> None:
    runner = ReferenceRunner(package("toywalk"), ledger=True)
    runner.reset(0)
    assert [record[0] for record in runner.draws] == ["start"]
    runner.override = {"slip": True}
    before = runner.state.position
    runner.step(1)
    assert runner.draws == []
    assert runner.state.position == before - 1
    runner.override = None
    runner.step(1)
    assert [record[0] for record in runner.draws] == ["slip"]
    assert runner.used == {"start", "slip"}
    assert runner.broken_invariants() == []


def test_a_saved_or_loaded_runner_goes_on_alike() -> None:
    runner = ReferenceRunner(package("forager"), params={"gust": 0.5})
    runner.reset(3)
    runner.reset()
    for _ in range(4):
        runner.step(1)
    saved = json.loads(json.dumps(runner.save()))
    restored, loaded = ReferenceRunner(package("forager")), ReferenceRunner(package("forager"), params={"gust": 0.5})
    restored.restore(saved)
    loaded.load(saved["state"], t=runner.t, seed=3, episode=1)
    for action in (0, 1, 2, 3, 0, 1):
        wanted = runner.step(action)
        assert restored.step(action) == wanted
        assert loaded.step(action) == wanted
    assert restored.returns == runner.returns
    assert restored.reset() == runner.reset()


class Bent(ReferenceEnv):
    fault = ""

    def reset(self, ctx: Any) -> Any:
        return (0, 0) if self.fault == "tuple" else self.State(count=0, mark=ctx.draw.integers("mark", 65536))

    def step(self, state: Any, action: int, ctx: Any) -> Transition:
        count = {"float": 1.0, "bool": True, "bound": 5000}.get(self.fault, state.count + 1)
        reward = {"reward": 2.0, "nan": float("nan"), "double": 0.1}.get(self.fault, 1.0)
        flag = 0 if self.fault == "flag" else False
        return Transition(state.replace(count=count), reward, flag)

    def observe(self, state: Any, ctx: Any) -> Any:
        if self.fault == "draw":
            ctx.draw.integers("mark", 3)
        return (0.0, 0.0, 0.0) if self.fault == "long" else (float(state.count), 0.0)

    def action_mask(self, state: Any, ctx: Any) -> Any:
        return (True, 1) if self.fault == "mask" else (True, True)

    def info(self, state: Any, ctx: Any) -> dict[str, Any]:
        return {"count": state.count} if self.fault == "info" else {"count": state.count, "success": False}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("tuple", "State struct"),
        ("float", r"state\.count"),
        ("bool", r"state\.count"),
        ("bound", r"5000"),
        ("reward", "reward"),
        ("nan", "nan"),
        ("double", "float32"),
        ("flag", "terminated is not a bool"),
        ("long", "observation"),
        ("mask", "action_mask"),
        ("info", "other keys"),
        ("draw", "outside reset and step"),
    ],
)
def test_a_twin_that_breaks_its_schema_is_named(fault: str, words: str) -> None:
    twin = Bent(package("counter").schema)
    runner = ReferenceRunner(package("counter"), env=twin)

    def run() -> None:
        runner.reset(0)
        runner.step(0)

    run()
    twin.fault = fault
    with pytest.raises((TwinError, DrawError), match=words):
        run()
