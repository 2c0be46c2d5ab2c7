"""A copy of somebody else's class with other globals: what it changes, what it leaves, what it refuses."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.envs.classic_control.acrobot import AcrobotEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv

from simulacrum.errors import UsageError
from simulacrum.twin.outside import overlay, rebind


class Kept:
    """A base in a module that asks for none of the names."""

    def hello(self) -> str:
        return "hello"


PROGRAM = '''
import functools
import math
from math import sin


def twice(x):
    return sin(x) * 2


class Base:
    gain = 3

    def __init__(self, start):
        self.start = start

    def step(self, x):
        return math.cos(x) + self.start

    @classmethod
    def made(cls, start):
        return cls(start)


class Sim(Base, Kept):
    def step(self, x, *, more=0):
        return super().step(x) + twice(x) + more

    @property
    def height(self):
        return [sin(x) for x in (self.start,)][0]

    @functools.cached_property
    def kept(self):
        return sin(self.start)

    @staticmethod
    def fixed(x):
        return math.cos(x) * math.pi

    def again(self):
        return super(Sim, self).step(0)
'''


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = tmp_path / "somebodys_program.py"
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("somebodys_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "somebodys_program", module)
    module.Kept = Kept  # type: ignore[attr-defined]  # a module takes any name
    spec.loader.exec_module(module)
    return module


def test_methods_bases_functions_and_properties_see_the_other_names(program: Any) -> None:
    kind: Any = rebind(program.Sim, math=overlay(math, cos=lambda _: 100.0), sin=lambda _: 7.0)
    sim = kind(1.0)
    assert sim.step(0.5, more=1000) == 100.0 + 1.0 + 14.0 + 1000
    assert sim.height == sim.kept == 7.0
    assert kind.fixed(0.5) == 100.0 * math.pi
    assert kind.made(2.0).again() == 102.0
    assert type(kind.made(2.0)) is kind
    assert (kind.__name__, kind.gain, sim.hello()) == ("Sim", 3, "hello")


def test_nothing_changes_in_the_other_program(program: Any) -> None:
    before = dict(vars(program))
    rebind(program.Sim, math=overlay(math, cos=lambda _: 100.0), sin=lambda _: 7.0)
    assert dict(vars(program)) == before
    assert program.Sim(1.0).step(0.5) == math.cos(0.5) + 1.0 + math.sin(0.5) * 2


def test_bases_that_need_no_copy_are_kept(program: Any) -> None:
    kind = rebind(program.Sim, sin=lambda _: 7.0)
    assert issubclass(kind, Kept)
    assert not issubclass(kind, program.Sim)


@pytest.mark.parametrize("name", ["cos", "tan", "Sim2"])
def test_a_name_that_no_code_asks_for_is_refused(program: Any, name: str) -> None:
    with pytest.raises(UsageError, match=f"asks for no global called {name}") as caught:
        rebind(program.Sim, sin=math.sin, **{name: None})
    assert "somebodys_program" in str(caught.value)


def test_an_overlay_answers_its_names_and_the_rest_from_the_module() -> None:
    mine = overlay(np, sin=lambda _: 7.0)
    assert (mine.sin(1.0), mine.pi, mine.linalg) == (7.0, np.pi, np.linalg)
    with pytest.raises(AttributeError):
        _ = mine.no_such_thing
    assert "numpy" in repr(mine)
    with pytest.raises(UsageError, match="nothing is called sine"):
        overlay(np, sine=np.sin)


def test_the_real_programs_step_with_what_they_are_given() -> None:
    asked: list[float] = []

    def cosine(x: float) -> float:
        asked.append(float(x))
        return math.cos(x)

    car, theirs = rebind(MountainCarEnv, math=overlay(math, cos=cosine))(), MountainCarEnv()
    acrobot, their_acrobot = rebind(AcrobotEnv, cos=cosine)(), AcrobotEnv()
    for ours, plain in ((car, theirs), (acrobot, their_acrobot)):
        assert (ours.reset(seed=4)[0] == plain.reset(seed=4)[0]).all()
        asked.clear()
        for action in (0, 1, 2, 2):
            assert (ours.step(action)[0] == plain.step(action)[0]).all()
        assert len(asked) >= 4
    assert "mountain_car" in type(car).__module__
