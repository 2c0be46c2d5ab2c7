from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from kit import NAMES, package

from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.frames import CLOCK, BatchSide, ReferenceSide, frame_fields, row_action, rows_of, take

ENVS = [*NAMES, "toywalk", "forager"]
MODES = list(AutoresetMode)


def bench(name: str) -> Bench:
    return Bench(package(name), failures=Path("never-written"))


@pytest.mark.parametrize("name", ENVS)
@pytest.mark.parametrize("mode", MODES)
def test_both_sides_show_the_declared_names_dtypes_and_shapes(name: str, mode: AutoresetMode) -> None:
    one = bench(name)
    env = one.env(3, mode=mode)
    sides = BatchSide(env), ReferenceSide.beside(env)
    seeds = seeds_for(3, 1)
    fields = frame_fields(one.schema, final=mode == AutoresetMode.SAME_STEP)
    action = drivers.standard(one.schema, 3, 0).actions({}, 0)
    for frames in ((sides[0].reset(seed=seeds), sides[1].reset(seeds)), (sides[0].step(action), sides[1].step(action))):
        for frame in frames:
            assert set(frame) == set(fields)
            for field_name, field in fields.items():
                assert frame[field_name].dtype == np.dtype(field.dtype), field_name
                assert frame[field_name].shape == (3, *field.shape), field_name


def test_the_order_of_blame_is_state_reward_flags_observation_info() -> None:
    names = list(frame_fields(package("counter").schema))
    kinds = [name.partition(".")[0] for name in names]
    assert kinds == sorted(kinds, key=["state", "reward", *CLOCK, "observation", "info", "action_mask"].index)


def test_the_clock_of_next_step_spends_a_step_on_the_reset() -> None:
    one = bench("toywalk")
    env = one.env(1, limit=2)
    side = ReferenceSide.beside(env)
    frames = [side.reset([7]), *(side.step(np.array([0])) for _ in range(3))]
    assert [int(frame["t"][0]) for frame in frames] == [0, 1, 2, 0]
    assert [int(frame["episode"][0]) for frame in frames] == [0, 0, 0, 1]
    assert [bool(frame["truncated"][0]) for frame in frames] == [False, False, True, False]
    assert float(frames[3]["reward"][0]) == 0.0


def test_same_step_shows_the_end_and_the_new_start_together() -> None:
    one = bench("toywalk")
    side = ReferenceSide.beside(one.env(1, mode=AutoresetMode.SAME_STEP, limit=1))
    side.reset([7])
    frame = side.step(np.array([0]))
    assert (int(frame["t"][0]), int(frame["episode"][0])) == (0, 1)
    assert (int(frame["episode_length"][0]), float(frame["episode_return"][0])) == (1, -1.0)
    assert frame["final_obs"][0].tolist() == pytest.approx([frame["final_obs"][0, 0], 1 / 60])
    assert frame["observation"][0, 1] == 0.0


def test_recorded_frames_do_not_change_when_the_env_goes_on() -> None:
    one = bench("forager")
    side = BatchSide(one.env(5))
    first = side.reset(seed=list(range(5)))
    kept = {name: value.copy() for name, value in first.items()}
    for step in range(6):
        side.step(np.full(5, step % 4))
    assert all(kept[name].tobytes() == first[name].tobytes() for name in kept)


def test_rows_and_actions_are_picked_alike() -> None:
    frame = {"a": np.arange(5), "b": np.arange(10).reshape(5, 2)}
    assert rows_of(frame, [3, 0])["b"].tolist() == [[6, 7], [0, 1]]
    assert take({"x": np.arange(5)}, [4])["x"].tolist() == [4]
    assert take(np.arange(5), [1, 1]).tolist() == [1, 1]


def test_an_action_reaches_the_reference_in_its_own_types() -> None:
    glider, canvas = package("glider").schema, package("canvas").schema
    assert repr(row_action(glider, np.array([[0.5, -1.0]], np.float32), 0)) == "(Float32(0.5), Float32(-1.0))"
    batch = {"ink": np.array([[1, 2, 3]], np.uint8), "cell": np.array([5])}
    assert row_action(canvas, batch, 0) == {"ink": (1, 2, 3), "cell": 5}
