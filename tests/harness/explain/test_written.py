"""Where in a twin's source a value is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulacrum.contract.source import Source, read_source
from simulacrum.harness.explain.written import lines_that_compute, tags_by_line
from simulacrum.trace.divergence import difference

TWIN = '''
class Walk(ReferenceEnv):
    """The engine carries out R9."""

    def reset(self, ctx):
        return self.State(ctx.draw.integers("x", 3), 0)  # R1

    def step(self, state, action, ctx):
        # R2: two lines above
        # what it is about

        move = self._move(action)
        x, y = state.x + move, state.y
        if x > 3:
            x = 3  # R3
        reward = 0.0
        for k in range(3):
            reward += k * x
        return Transition(state.replace(x=x, y=y), reward, done := x == 3)

    def _move(self, action):
        return 1 if action else -1

    def observe(self, state, ctx):
        return (
            state.x,
            state.y,
        )

    def info(self, state, ctx):
        return {"far": state.x, "high": self._high(state)}

    def _high(self, state):
        return state.y > 3

    @invariant("x is small", rule="R8")
    def small(self, state, ctx):
        return state.x < 4
'''


@pytest.fixture
def twin(tmp_path: Path) -> Source:
    path = tmp_path / "reference.py"
    path.write_text(TWIN, encoding="utf-8")
    return read_source(path)


def texts(twin: Source, kind: str, field: str = "", index: tuple[int, ...] = (), **more: Any) -> dict[str, int | None]:
    found = lines_that_compute(twin, difference(kind, field, index, 0, 1, "int32"), **{"at_reset": False, **more})
    return {line.text.strip(): line.distance for line in found}


def test_a_state_is_followed_through_names_methods_and_conditions(twin: Source) -> None:
    found = texts(twin, "state", "x")
    assert found["return Transition(state.replace(x=x, y=y), reward, done := x == 3)"] == 0
    assert found["x = 3  # R3"] == 1
    assert found["x, y = state.x + move, state.y"] == 1
    assert found["if x > 3:"] == 2
    assert found["move = self._move(action)"] == 2
    assert found["return 1 if action else -1"] == 3
    assert not any("reward" in text for text in found if "Transition" not in text)


def test_one_name_of_several_is_followed_alone(twin: Source) -> None:
    assert set(texts(twin, "state", "y")) == {
        "x, y = state.x + move, state.y", "return Transition(state.replace(x=x, y=y), reward, done := x == 3)",
    }  # fmt: skip


def test_the_start_of_an_episode_is_looked_for_in_reset(twin: Source) -> None:
    assert set(texts(twin, "state", "x", at_reset=True, fields=("x", "y"))) == {
        'return self.State(ctx.draw.integers("x", 3), 0)  # R1'
    }


def test_sums_in_loops(twin: Source) -> None:
    found = texts(twin, "reward")
    assert found["reward += k * x"] == 1
    assert found["for k in range(3):"] == 2
    assert texts(twin, "episode_return") == found


def test_flags_come_from_the_transition_by_place(twin: Source) -> None:
    assert "return 1 if action else -1" in texts(twin, "terminated")
    assert texts(twin, "truncated") == {}  # the engine's: this twin never truncates


def test_what_the_engine_reads(twin: Source) -> None:
    assert texts(twin, "observation", index=(1,)) == {"state.y,": 0}
    assert texts(twin, "final_obs", index=(0,)) == {"state.x,": 0}
    assert "return state.y > 3" in texts(twin, "info.high")
    assert "return state.y > 3" not in texts(twin, "info.far")
    assert texts(twin, "invariant", "small") == {"return state.x < 4": 0}
    assert set(texts(twin, "draw", "x")) == {'return self.State(ctx.draw.integers("x", 3), 0)  # R1'}


def test_a_rule_brings_its_lines(twin: Source) -> None:
    assert texts(twin, "observation", index=(1,), rule="R3") == {"state.y,": 0, "x = 3  # R3": None}


def test_an_unknown_kind_has_no_lines(twin: Source) -> None:
    assert texts(twin, "no_such_thing") == {}


def test_a_tag_belongs_to_its_line_or_to_the_next_one_below(twin: Source) -> None:
    lines = TWIN.split("\n")
    tags = {lines[line - 1].strip(): names for line, names in tags_by_line(twin).items()}
    assert tags["move = self._move(action)"] == ["R2"]
    assert tags["x = 3  # R3"] == ["R3"]


def test_a_constant_at_the_top_of_the_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "fast.py"
    path.write_text(
        "NORTH, SOUTH = 0, 2\n\n\nclass Walk(BatchedEnv):\n    def step(self, state, NORTH, ctx):\n"
        "        return Transition(state, NORTH, SOUTH)\n", "utf-8"
    )  # fmt: skip
    source = read_source(path)
    assert texts(source, "terminated") == {"NORTH, SOUTH = 0, 2": 1, "return Transition(state, NORTH, SOUTH)": 0}
    assert texts(source, "reward") == {"return Transition(state, NORTH, SOUTH)": 0}  # an argument hides the constant
