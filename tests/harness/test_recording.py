from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from kit import package

from simulacrum.harness.bench import Bench
from simulacrum.harness.chronicle import ENDS, STARTS, Chronicle
from simulacrum.harness.recorder import Restart
from simulacrum.harness.recording import explain, parting
from simulacrum.harness.world import World, picked


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Bench(package("counter"), failures=tmp_path), size=20, steps=12, limit=4, seed=3)


def test_a_recording_holds_a_frame_a_state_and_an_action_a_step(world: World) -> None:
    made = world.run(range(5))
    assert len(made.frames) == len(made.states) == len(made.actions) + 1 == 13
    assert made.states[0] is None
    assert made.transitions == 60
    assert (made.ends >= 2).all()


def test_frames_do_not_change_as_the_env_runs_on(world: World) -> None:
    made = world.run(range(5))
    assert made.frames[0]["t"].tolist() == [0] * 5
    assert made.frames[3]["t"].max() <= 3


def test_disabled_rows_are_reset_by_hand_where_they_ended(world: World) -> None:
    made = world.run(range(5), mode=AutoresetMode.DISABLED)
    restarts = [action for action in made.actions if isinstance(action, Restart)]
    assert restarts
    assert made.transitions == 60
    assert len(made.frames) == 13 + len(restarts)


def test_a_row_is_the_same_wherever_it_is_put(world: World) -> None:
    assert parting(world.bench, world.run([4]), world.run([7, 4, 2]), [0], [1]) is None


def test_the_first_parting_is_found_and_explained(world: World) -> None:
    one, other = world.run(range(5)), world.run(range(5))
    other.frames[6] = {**other.frames[6], "reward": other.frames[6]["reward"].copy()}
    other.frames[6]["reward"][3] = -5.0
    parted = parting(world.bench, one, other, range(5), range(5))
    assert parted is not None
    assert (parted.frame, parted.place) == (6, 3)
    record = explain(world.bench, parted, one, other, range(5), range(5), side="the first run", notes=("a note",))
    assert (record.row, record.step, record.difference.path) == (3, 5, "reward")
    assert record.seed == world.seeds[3]
    assert record.hints[-2:] == ("the column `reference` shows the first run", "a note")


def test_picked_rows_are_different_and_hold_those_that_must_be_there() -> None:
    rows = picked(50, 9, [0, 49], seed=1)
    assert len(set(rows)) == 9
    assert {0, 49} <= set(rows)
    assert len(picked(50, 1, [0, 49], seed=1)) == 1


def test_a_chronicle_tells_the_first_difference_among_what_both_know() -> None:
    frame = {"episode": np.array([0, 1]), "state.x": np.array([5, 6]), "reward": np.array([1.0, 2.0])}
    one, two = Chronicle(2), Chronicle(2)
    both = np.array([True, True])
    one.note("start", both, frame, STARTS)
    two.note("start", both, {**frame, "state.x": np.array([5, 7])}, STARTS)
    assert one.parts(two, "start") == ("state.x", 1, 1)
    assert one.common(two, "start") == 2
    one.note("end", both, frame, ENDS)
    assert one.parts(two, "end") is None
    assert one.common(two, "end") == 0
