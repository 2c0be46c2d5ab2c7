"""Forms of the step: one graph for every batch size, the bits of the eager one, and eager where nothing compiles."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo
from kit import package
from kit.tools import Actor, assert_same, play, vector

from simulacrum.engine import boundary, forms
from simulacrum.engine.capture import capture
from simulacrum.errors import CompileError, UsageError

CPU = torch.device("cpu")


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    forms.cpp_compiler.cache_clear()
    yield
    forms.cpp_compiler.cache_clear()


def test_names_of_forms() -> None:
    assert (
        forms.resolve_form(False, CPU) == forms.resolve_form("eager", CPU) == forms.resolve_form(None, CPU) == "eager"
    )
    for wrong in ("fortran", 3, [], {"a": 1}):
        with pytest.raises(UsageError, match="unknown form"):
            forms.resolve_form(wrong, CPU)
    with pytest.raises(CompileError, match="unknown form"):
        forms.build("fortran", lambda: None)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_there_is_one_warning_and_the_eager_form() -> None:
    with pytest.warns(forms.CompilerWarning, match=r"no C\+\+ compiler was found") as caught:
        env = vector("counter", 2, compile="inductor")
    assert len(caught) == 1
    assert env.form == "eager"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert forms.resolve_form("inductor", CPU, warn=False) == "eager"
        env.reset(seed=0)
        plain = vector("counter", 2)
        plain.reset(seed=0)
        assert_same(play(env, 3), play(plain, 3))


def test_the_compiler_is_the_one_the_environment_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = tmp_path / "mine++"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    monkeypatch.setenv("CXX", f"{mine} -O3")
    forms.cpp_compiler.cache_clear()
    assert forms.cpp_compiler() == str(mine)
    forms.cpp_compiler.cache_clear()


def test_a_captured_function_gives_its_structure_back() -> None:
    def step(state: dict[str, Any], action: torch.Tensor) -> Any:
        return {"x": state["x"] + action}, (state["x"] * 2,)

    args = ({"x": torch.arange(3)}, torch.arange(3))
    graph = capture(step, args)
    flat = torch.utils._pytree.tree_leaves(({"x": torch.arange(5)}, torch.arange(5)))
    result = torch.utils._pytree.tree_unflatten(graph.plain()(*flat), graph.given)
    assert_same(result, ({"x": torch.arange(5) * 2}, (torch.arange(5) * 2,)))


def test_a_constant_that_a_step_keeps_is_part_of_the_graph() -> None:
    table = torch.tensor([5, 6, 7])
    graph = capture(lambda x: (table[x],), (torch.tensor([0, 1]),))
    assert graph.plain()(torch.tensor([2, 1, 0]))[0].tolist() == [7, 6, 5]


def test_one_tensor_in_two_places_stays_two_inputs() -> None:
    x = torch.arange(4)
    graph = capture(lambda a, b: (a - b,), (x, x))
    assert graph.plain()(torch.arange(3), torch.ones(3, dtype=torch.int64))[0].tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    "function",
    [lambda x: (x + 1,) if bool(x.any()) else (x,), lambda x: (x + x.sum().item(),), lambda x: (x[x > 0],),
     lambda x: (x.nonzero(),), lambda x: (x.reshape(3),)],
)  # fmt: skip
def test_what_looks_at_values_or_fixes_n_cannot_be_captured(function: Any) -> None:
    with pytest.raises(CompileError, match="cannot be captured as one graph") as caught:
        capture(function, (torch.arange(3),))
    assert "torch.where" in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(forms.cpp_compiler() is None, reason="no C++ compiler")
def test_one_graph_serves_every_batch_size_with_the_eager_bits() -> None:
    # Compiled anew for this test. Not by torch._dynamo.reset(): that takes the step of every other env in the process.
    boundary._CORES.pop(package("dials").folder, None)
    # The first build stays outside of the strict part: torch calls it a recompilation where an earlier test of this
    # process compiled anything at all through the same wrapper of torch's.
    torch._dynamo.utils.counters.clear()
    first = vector("dials", 5, compile="inductor", max_episode_steps=4)
    first.reset(seed=0)
    play(first, 1)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for num_envs in (3, 2, 7, 64):
            fast = vector("dials", num_envs, compile="inductor", max_episode_steps=4)
            plain = vector("dials", num_envs, max_episode_steps=4)
            assert fast.form == "inductor"
            fast.reset(seed=num_envs)
            plain.reset(seed=num_envs)
            assert_same(play(fast, 11), play(plain, 11), f"N = {num_envs}")
        other = pickle.loads(pickle.dumps(fast))
        assert_same(play(other, 5), play(plain, 5))
        with torch.inference_mode():
            other.step(torch.zeros(64, 2, dtype=torch.int64))
        other.step(torch.zeros(2, 64, dtype=torch.int64).t())
        other.step(Actor(other)().to(torch.int8))
        forked = other.fork([5, 3])
        assert forked.step([[0, 0], [1, 2]])[0].shape == (2, 2)
    counters = torch._dynamo.utils.counters
    assert counters["stats"]["unique_graphs"] == 1
    assert not counters["graph_break"]


@pytest.mark.slow
@pytest.mark.skipif(forms.cpp_compiler() is None, reason="no C++ compiler")
def test_a_single_row_has_a_graph_of_its_own() -> None:
    fast, plain = (vector("dials", 1, compile=form, max_episode_steps=4) for form in ("inductor", False))
    fast.reset(seed=1)
    plain.reset(seed=1)
    assert_same(play(fast, 11), play(plain, 11))
    assert_same(play(fast.fork([0]), 5), play(plain, 5))
