"""`assert_twins_agree`: what a test file of a failure calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import SimulacrumError
from simulacrum.harness.case import assert_twins_agree, keywords
from simulacrum.trace.case import Case, Line


@pytest.fixture
def late_wall(tmp_path: Path) -> EnvPackage:
    edit = Edit("fast.py", "+ move).clamp(LEFT_END, GOAL)", "+ move).clamp(LEFT_END + 1, GOAL)")
    return load_package(copy_env("toywalk", tmp_path, [edit]))


def test_sound_twins_agree_from_a_reset_and_from_states() -> None:
    assert_twins_agree("toywalk", actions=[0, 1, 0, "<reset>", 1, {"<reset>": 7}, 0], seed=5)
    assert_twins_agree("toywalk", start={"position": -5}, actions=[0, 0], params={"slip": 0.5}, t=9)
    assert_twins_agree("toywalk", start={"position": 5}, actions=[0, 1], t=5, ended=True, num_envs=3, row=1)
    assert_twins_agree("toywalk", start={"position": 1}, actions=[1], num_envs=2, companions={1: {"actions": [0]}})
    assert_twins_agree("forager", actions=[1], seed=3, autoreset_mode="same_step", max_episode_steps=1)
    assert_twins_agree("forager", small=True, forced={"gust": True}, actions=[2])
    assert_twins_agree(package("dials"), actions=[[1, 2], [3, 4]], seed=11)


def test_the_message_names_the_field_and_both_values(late_wall: EnvPackage) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_twins_agree(late_wall, start={"position": -4}, actions=[0], t=5, forced={"slip": False})
    text = str(caught.value)
    assert "simulacrum/toywalk-v0: the twins part in state.position after step 1 of 1" in text
    assert "reference  -5 0xfffffffb int32" in text
    assert "eager      -4 0xfffffffc int32" in text
    assert "also       observation[0]" in text


def test_a_state_that_breaks_an_invariant_by_itself_is_nobodys_fault() -> None:
    assert_twins_agree("toywalk", start={"position": 4}, actions=[0])  # nobody comes there at t = 0


def test_draws_that_are_put_in_decide(late_wall: EnvPackage) -> None:
    assert_twins_agree(late_wall, start={"position": -4}, actions=[0], t=5, forced={"slip": True})


def test_a_companion_can_be_what_matters(tmp_path: Path) -> None:
    edit = Edit("fast.py", "state.position + move)", "state.position + move.roll(1))")
    leak = load_package(copy_env("toywalk", tmp_path, [edit]))
    still: dict[str, Any] = {"start": {"position": 0}, "params": {"slip": 0.0}}
    assert_twins_agree(leak, **still, actions=[1], num_envs=2)
    with pytest.raises(AssertionError, match="row 0 of 2"):
        assert_twins_agree(leak, **still, actions=[1], num_envs=2, companions={1: {"actions": [0]}})
    with pytest.raises(AssertionError, match=r"alone +1"):
        assert_twins_agree(leak, **still, actions=[1], num_envs=2, companions={1: {"actions": [0]}}, against="alone")


def test_a_case_that_cannot_be_run_says_why() -> None:
    with pytest.raises(SimulacrumError):
        assert_twins_agree("toywalk", actions=[7])
    with pytest.raises(SimulacrumError):
        assert_twins_agree("toywalk", start={"place": 3}, actions=[0])


def test_only_what_is_not_the_default_is_said() -> None:
    line = Line(1, 0, {"position": 2}, t=4, actions=(1,))
    other = Line(0, 0, {"position": 2}, t=4, actions=(0,))
    case = Case("eager", "cpu", "next_step", 60, 2, (line, other))
    assert keywords(case, "toywalk", 60) == {
        "env": "toywalk", "start": {"position": 2}, "actions": [1], "t": 4, "num_envs": 2, "row": 1,
        "companions": {0: {"actions": [0]}},
    }  # fmt: skip
    assert keywords(case, "toywalk", 9)["max_episode_steps"] == 60
