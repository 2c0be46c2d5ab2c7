"""The adapter against everything that Stable-Baselines3 expects of a VecEnv."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import simulacrum
from simulacrum.adapters.sb3 import NO_INFO, SB3VecEnv, make_sb3
from simulacrum.errors import ActionError, ClosedError, GateError, UsageError

LIMIT = 7  # counter's time limit
Vector = Callable[..., Any]


def zeros(env: SB3VecEnv) -> np.ndarray:
    return np.zeros(env.num_envs, dtype=np.int64)


def play(env: SB3VecEnv, steps: int) -> list[tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]]:
    return [env.step(zeros(env)) for _ in range(steps)]


# --- the door ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        SB3VecEnv(vector(autoreset_mode=mode))
    assert "same_step" in str(caught.value)


def test_numpy_output_is_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="output='numpy'"):
        SB3VecEnv(vector(output="numpy"))


def test_other_vector_envs_and_wrapped_ones_are_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        SB3VecEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="RecordEpisodeStatistics"):
        SB3VecEnv(gym.wrappers.vector.RecordEpisodeStatistics(vector()))


@pytest.mark.parametrize("name", ["autoreset_mode", "output", "vectorization_mode"])
def test_make_sb3_decides_modes_itself(name: str) -> None:
    with pytest.raises(UsageError, match=f"make_sb3 decides {name} itself"):
        make_sb3("simulacrum/forager-v0", 2, **{name: "next_step"})


def test_make_sb3_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            make_sb3("simulacrum/counter-v0", 2)
    finally:
        del gym.registry["simulacrum/counter-v0"]


def test_spaces_are_those_of_one_row(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    assert env.num_envs == 3
    assert env.observation_space.shape == (2,)
    assert env.action_space == gym.spaces.Discrete(2)


# --- episodes ---------------------------------------------------------------------------------------------


def test_the_boundary_shows_the_old_last_and_the_new_first_observation(vector: Vector) -> None:
    env = SB3VecEnv(vector(4, params={"spread": 1}))
    env.seed(3)
    before = env.reset()
    ends = 0
    for step in range(1, 4 * LIMIT):
        observation, _, dones, infos = env.step(zeros(env))
        for row in range(4):
            if not dones[row]:
                assert infos[row] is NO_INFO
                assert observation[row].tolist() == [before[row][0] + 1, before[row][1]]
                continue
            ends += 1
            assert infos[row]["terminal_observation"].tolist() == [before[row][0] + 1, before[row][1]]
            assert observation[row][0] in (0, 1, 2, 3)
            assert observation[row][1] != before[row][1]  # another episode's mark
            assert infos[row]["count"] == before[row][0] + 1  # the old episode's metric
            assert infos[row]["episode"]["l"] == infos[row]["episode"]["r"] == LIMIT
            assert step % LIMIT == 0
        before = observation
    assert ends == 3 * 4


@pytest.mark.parametrize(
    ("goal", "limit", "ends_at", "truncated"),
    [(3, 7, 3, False), (1000, 7, 7, True), (7, 7, 7, False), (1, 1, 1, False), (1000, 1, 1, True)],
    ids=["terminated", "truncated", "both", "both in one step", "truncated in one step"],
)
def test_case_b07_only_a_cut_off_episode_is_a_time_out(
    vector: Vector, goal: int, limit: int, ends_at: int, truncated: bool
) -> None:
    env = SB3VecEnv(vector(2, params={"goal": goal}, max_episode_steps=limit))
    env.reset()
    *_, (observation, _, dones, infos) = play(env, ends_at)
    assert dones.tolist() == [True, True]
    assert [info["TimeLimit.truncated"] for info in infos] == [truncated, truncated]
    assert type(infos[0]["TimeLimit.truncated"]) is bool
    assert infos[0]["terminal_observation"][0] == ends_at
    assert observation[:, 0].tolist() == [0, 0]


def test_rows_that_end_apart_have_infos_apart(vector: Vector) -> None:
    env = SB3VecEnv(vector(3, params={"goal": [2, 3, 1000]}))
    env.reset()
    (_, _, _, first), (_, _, dones, infos), (_, _, later, last) = play(env, 3)
    assert first == [{}, {}, {}]
    assert dones.tolist() == [True, False, False]
    assert infos[0]["terminal_observation"][0] == 2
    assert infos[1] is NO_INFO
    assert later.tolist() == [False, True, False]
    assert last[1]["terminal_observation"][0] == 3


# --- types and memory -------------------------------------------------------------------------------------


def test_types_and_shapes(vector: Vector) -> None:
    env = SB3VecEnv(vector(4))
    observation = env.reset()
    assert (type(observation), observation.dtype, observation.shape) == (np.ndarray, np.float32, (4, 2))
    observation, rewards, dones, infos = env.step(zeros(env))
    assert (type(observation), observation.dtype, observation.shape) == (np.ndarray, np.float32, (4, 2))
    assert (type(rewards), rewards.dtype, rewards.shape) == (np.ndarray, np.float32, (4,))
    assert (type(dones), dones.dtype, dones.shape) == (np.ndarray, np.bool_, (4,))
    assert (type(infos), len(infos)) == (list, 4)
    assert rewards.flags.writeable
    assert observation.flags.writeable


def test_editing_everything_returned_changes_nothing_later(vector: Vector) -> None:
    clean, spoiled = SB3VecEnv(vector(4)), SB3VecEnv(vector(4))
    for env in (clean, spoiled):
        env.seed(5)
    first, second = clean.reset(), spoiled.reset()
    assert first.tobytes() == second.tobytes()
    second[:] = -1
    for _ in range(3 * LIMIT):
        a, b = clean.step(zeros(clean)), spoiled.step(zeros(spoiled))
        for mine, other in zip(a[:3], b[:3], strict=True):
            assert mine.tobytes() == other.tobytes()
        b[0][:], b[1][:], b[2][:] = -1, 99, True
        for info in b[3]:
            if info:
                info["terminal_observation"][:] = -1
                info.clear()


def test_what_was_returned_is_never_overwritten(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    kept = [env.reset()]
    copies = [kept[0].copy()]
    for observation, _, _, infos in play(env, 3 * LIMIT):
        kept += [observation, *(info["terminal_observation"] for info in infos if info)]
        copies += [part.copy() for part in kept[len(copies) :]]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(kept, copies, strict=True))


def test_a_terminal_observation_owns_its_memory(vector: Vector) -> None:
    env = SB3VecEnv(vector(2))
    env.reset()
    *_, (observation, _, _, infos) = play(env, LIMIT)
    first, second = (info["terminal_observation"] for info in infos)
    assert first.base is None
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, observation)


def test_the_actions_of_the_caller_are_left_alone(vector: Vector) -> None:
    env = SB3VecEnv(vector(2))
    env.reset()
    actions = np.array([0, 1])
    actions.flags.writeable = False
    env.step(actions)
    assert actions.tolist() == [0, 1]


def test_the_shared_empty_info_cannot_be_written_but_copied() -> None:
    for write in (
        lambda: NO_INFO.__setitem__("a", 1),
        lambda: NO_INFO.update(a=1),
        lambda: NO_INFO.setdefault("a", 1),
        lambda: NO_INFO.pop("a", None),
        lambda: NO_INFO.clear(),
        lambda: NO_INFO.__ior__({"a": 1}),
    ):
        with pytest.raises(UsageError, match="shared by all rows"):
            write()
    for other in (
        NO_INFO.copy(),
        copy.copy(NO_INFO),
        copy.deepcopy(NO_INFO),
        pickle.loads(pickle.dumps(NO_INFO)),
    ):
        assert other == {}
    mine = NO_INFO.copy()
    mine["a"] = 1
    assert NO_INFO == {}


# --- seeds, options, protocol -----------------------------------------------------------------------------


def test_a_seed_counts_once(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    assert env.seed(11) == [11, 12, 13]
    first = env.reset()
    second = env.reset()
    env.seed(11)
    assert env.reset().tobytes() == first.tobytes()
    assert second.tobytes() != first.tobytes()
    assert env.env.np_random_seed == (11, 12, 13)


def test_options_go_through_once(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    env.reset()
    play(env, 2)
    env.set_options({"reset_mask": np.array([True, False, False])})
    assert env.reset()[:, 0].tolist() == [0, 2, 2]
    assert env.reset()[:, 0].tolist() == [0, 0, 0]
    env.set_options([{"a": 1}, {}, {}])
    with pytest.raises(UsageError, match="same options"):
        env.reset()
    env.reset()


def test_reset_infos_are_a_list_of_dicts(vector: Vector) -> None:
    env = SB3VecEnv(vector(2))
    env.reset()
    assert [info["count"] for info in env.reset_infos] == [0, 0]
    assert [info["action_mask"].tolist() for info in env.reset_infos] == [[True, True]] * 2


def test_step_wait_needs_actions(vector: Vector) -> None:
    env = SB3VecEnv(vector(2))
    env.reset()
    env.step_async(zeros(env))
    env.step_wait()
    with pytest.raises(UsageError, match="no actions are waiting"):
        env.step_wait()


def test_bad_actions_and_closed_envs_raise(vector: Vector) -> None:
    env = SB3VecEnv(vector(2))
    with pytest.raises(gym.error.ResetNeeded):
        env.step(zeros(env))
    env.reset()
    with pytest.raises(ActionError, match="row 1"):
        env.step(np.array([0, 2]))
    with pytest.raises(ActionError, match="shape"):
        env.step(np.zeros((2, 1), dtype=np.int64))
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.step(zeros(env))


# --- rows by name -----------------------------------------------------------------------------------------


def test_get_attr_honours_indices(vector: Vector) -> None:
    env = SB3VecEnv(vector(3, params={"goal": [5, 6, 7]}))
    assert env.get_attr("goal") == [5, 6, 7]
    assert env.get_attr("goal", 1) == [6]
    assert env.get_attr("goal", [2, 0]) == [7, 5]
    assert env.get_attr("render_mode") == [None, None, None]
    assert env.has_attr("goal")
    assert env.has_attr("step")
    assert not env.has_attr("nonsense")
    with pytest.raises(UsageError, match="no such rows"):
        env.get_attr("goal", 3)


def test_set_attr_honours_indices(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    env.set_attr("goal", 4)
    assert env.get_attr("goal") == [4, 4, 4]
    env.set_attr("goal", 2, indices=[1])
    assert env.get_attr("goal") == [4, 2, 4]
    env.reset()
    *_, (_, _, dones, _) = play(env, 2)
    assert dones.tolist() == [False, True, False]
    with pytest.raises(ValueError, match="goal"):
        env.set_attr("goal", 0)


def test_env_method_honours_indices_and_moves_no_single_row(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    env.reset()
    assert env.env_method("render", indices=[0, 2]) == [None, None]
    for name in ("reset", "step", "close"):
        with pytest.raises(UsageError, match="all rows at once"):
            env.env_method(name)
    with pytest.raises(AttributeError):
        env.env_method("nonsense")


def test_action_masks_are_those_of_the_observation_shown(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    assert env.has_attr("action_masks")
    with pytest.raises(gym.error.ResetNeeded):
        env.env_method("action_masks")
    observation = env.reset()
    for _ in range(2 * LIMIT):
        masks = np.stack(env.env_method("action_masks"))
        assert masks.dtype == np.bool_
        assert masks.tolist() == [[True, count < 3] for count in observation[:, 0]]
        observation, *_ = env.step(zeros(env))
    assert [mask.tolist() for mask in env.env_method("action_masks", indices=[1])] == [[True, True]]
    unmasked = SB3VecEnv(vector(2, simulacrum.load_package("toywalk")))
    assert not unmasked.has_attr("action_masks")
    with pytest.raises(AttributeError):
        unmasked.env_method("action_masks")


def test_env_is_wrapped_is_false_for_each_asked_row(vector: Vector) -> None:
    env = SB3VecEnv(vector(3))
    assert env.env_is_wrapped(gym.Wrapper) == [False, False, False]
    assert env.env_is_wrapped(gym.Wrapper, indices=[1, 2]) == [False, False]
    assert env.env_is_wrapped(gym.Wrapper, indices=0) == [False]


def test_images_are_tiled(vector: Vector) -> None:
    env = SB3VecEnv(vector(3, simulacrum.load_package("toywalk"), render_mode="rgb_array"))
    env.reset()
    images = env.get_images()
    assert len(images) == 3
    height, width, _ = images[0].shape
    tiled = env.render()
    assert tiled is not None
    assert tiled.shape == (2 * height, 2 * width, 3)
    assert tiled[:height, :width].tobytes() == images[0].tobytes()
    silent = SB3VecEnv(vector(2))
    assert silent.get_images() == [None, None]


def test_nothing_of_this_file_left_a_report(counter: Any) -> None:
    assert not (Path(counter.folder) / "validation_report.json").exists()
