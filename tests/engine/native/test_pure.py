"""The native step as a pure function: what it is given stays, and rows with an illegal action are held still."""

from __future__ import annotations

import pytest
import torch
from gymnasium.vector import AutoresetMode
from kit import package
from kit.tools import Actor, assert_same, clone, vector

from simulacrum.engine.boundary import core_of


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", ["counter", pytest.param("canvas", marks=pytest.mark.long), "toywalk"])
def test_it_is_the_eager_function(name: str, mode: AutoresetMode) -> None:
    env = vector(name, 9, autoreset_mode=AutoresetMode.NEXT_STEP, max_episode_steps=5)
    core = core_of(package(name), 5)
    env.reset(seed=1)
    act = Actor(env)
    for _ in range(8):
        before, kept, action = env.state, clone(env.state), act()
        eager = core.form(mode, "eager")(before, action, env.params)
        native = core.form(mode, "native")(before, action, env.params)
        assert_same(eager, native)
        assert_same(before, kept)
        env.step(action)


def test_an_illegal_action_holds_its_row_still() -> None:
    core = core_of(package("toywalk"), 60)
    env = vector("toywalk", 3)
    env.reset(seed=0)
    action = torch.tensor([0, 9, 1])
    eager = core.form(AutoresetMode.NEXT_STEP, "eager")(env.state, action, env.params)
    native = core.form(AutoresetMode.NEXT_STEP, "native")(env.state, action, env.params)
    assert native[1].illegal.tolist() == [False, True, False]
    assert_same(eager, native)
