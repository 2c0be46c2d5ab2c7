"""What leaves the engine: memory of its own, and in NumPy output the arrays that Gymnasium expects."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from kit import NAMES
from kit.tools import MODES, Actor, advance, assert_same, clone, leaves, play, poison, timeless, vector

from simulacrum.engine.output import Freshener, constants_of, masked, row_of, rows_to_objects, storages

OUTPUTS = ("torch", "numpy")


def memory(leaf: Any) -> list[tuple[int, int]]:
    """The byte ranges that a leaf reaches."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == object:
        return [span for item in leaf if item is not None for _, part in leaves(item) for span in memory(part)]
    if isinstance(leaf, np.ndarray):
        return [(leaf.__array_interface__["data"][0], leaf.nbytes)]
    if isinstance(leaf, torch.Tensor):
        return [(leaf.untyped_storage().data_ptr(), leaf.untyped_storage().nbytes())]
    return []


def assert_apart(*trees: Any) -> None:
    """No two tensors or arrays share memory."""
    spans = sorted(span for tree in trees for _, leaf in leaves(tree) for span in memory(leaf) if span[1])
    for (start, size), (following, _) in itertools.pairwise(spans):
        assert start + size <= following


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_returned_shares_memory(name: str, mode: str, output: str) -> None:
    for num_envs in (1, 3):
        env = vector(name, num_envs, autoreset_mode=mode, output=output, max_episode_steps=2)
        first, actor = env.reset(seed=0), Actor(env)  # with its info
        assert_apart(first, tuple(env.state), tuple(env.params))
        assert not storages(*(leaf for _, leaf in leaves(first))) & constants_of(env.core.env)
        for _ in range(5):
            before, action = env.state, actor()
            out = advance(env, action)
            assert_apart(out, first, tuple(env.state))
            assert_apart(out, tuple(before), tuple(env.params), action)
            assert not storages(*(leaf for _, leaf in leaves(out))) & constants_of(env.core.env)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*NAMES, "forager"])
def test_garbage_written_into_outputs_reaches_nothing(name: str, mode: str, output: str) -> None:
    kinds: dict[str, Any] = {"autoreset_mode": mode, "output": output, "max_episode_steps": 3}
    for num_envs in (1, 4):
        clean, dirty = vector(name, num_envs, **kinds), vector(name, num_envs, **kinds)
        clean.reset(seed=1)
        poison(dirty.reset(seed=1))
        actor, other = Actor(clean), Actor(dirty)
        for step in range(12):
            action = other()
            out = advance(dirty, action)
            assert_same(out, clone(advance(clean, actor())), f"step {step}")
            poison(out)
            poison(action)
            if step == 5:
                mask = {"reset_mask": [True, *[False] * (num_envs - 1)]}
                seen = dirty.reset(options=mask)
                assert_same(seen, clean.reset(options=mask))
                poison(seen)
        poison(dirty.dump_states())
        poison(dirty.state_dict()["env"])
        assert_same(dirty.state_dict(), clean.state_dict())


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_numpy_output_is_what_the_spaces_say(name: str, mode: str, num_envs: int) -> None:
    env = vector(name, num_envs, autoreset_mode=mode, output="numpy", max_episode_steps=2, episode_statistics=True)
    observation, info = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    actor, seen = Actor(env), 0
    for _ in range(6):
        out = advance(env, actor())
        assert env.observation_space.contains(out[0])
        assert (out[1].dtype, out[2].dtype, out[3].dtype) == (np.float32, np.bool_, np.bool_)
        for path, leaf in leaves((out, observation, info)):
            assert isinstance(leaf, np.ndarray), path
            assert leaf.shape[0] == num_envs, path
            assert leaf.flags.c_contiguous, path
            assert leaf.flags.writeable, path
            assert leaf.flags.owndata or leaf.base is not None, path
        done = out[2] | out[3]
        assert ("final_obs" in out[4]) == (mode == "same_step" and bool(done.any()))
        if "final_obs" in out[4]:
            seen += 1
            final = out[4]["final_obs"]
            assert final.dtype == object
            assert [item is not None for item in final] == out[4]["_final_obs"].tolist() == done.tolist()
            assert all(env.single_observation_space.contains(item) for item in final if item is not None)
    assert seen or mode != "same_step"


def test_both_outputs_show_the_same_values() -> None:
    for mode in MODES:
        ours, theirs = (
            vector("glider", 4, autoreset_mode=mode, output=output, max_episode_steps=3, episode_statistics=False)
            for output in ("torch", "numpy")
        )
        ours.reset(seed=2)
        theirs.reset(seed=2)
        for a, b in zip(play(ours, 9), play(theirs, 9), strict=False):
            for x, y in zip(a[:4], b[:4], strict=False):
                for (_, left), (_, right) in zip(leaves(x), leaves(y), strict=False):
                    assert left.numpy().tobytes() == right.tobytes()


def test_statistics_are_not_written_where_gymnasium_counts() -> None:
    env = vector("counter", 2, output="numpy", max_episode_steps=1)
    env.reset(seed=0)
    assert "episode" not in env.step([0, 0])[4]
    env = vector("counter", 2, episode_statistics=False, max_episode_steps=1)
    env.reset(seed=0)
    assert "episode" not in env.step([0, 0])[4]


def test_numpy_infos_have_masks_only_where_rows_differ() -> None:
    env = vector("counter", 2, output="numpy", autoreset_mode="same_step", params={"goal": [1, 1000]})
    env.reset(seed=0)
    info = env.step([0, 0])[4]
    assert info["final_info"]["_count"].tolist() == [True, False]
    assert info["final_info"]["success"].tolist() == [True, False]
    assert info["success"].tolist() == [False, False]


def test_a_view_of_taken_memory_is_copied_and_other_tensors_pass() -> None:
    state = torch.arange(6).reshape(2, 3)
    fresh = Freshener(storages((state,)))
    new = torch.ones(3)
    assert fresh(new) is new
    assert fresh(new) is not new  # given out once already
    view = fresh(state[0])
    assert view.untyped_storage().data_ptr() != state.untyped_storage().data_ptr()
    assert fresh({"a": torch.ones(2, 3).t()})["a"].is_contiguous()


def test_rows_become_objects_with_memory_of_their_own() -> None:
    batch = {"a": np.arange(6).reshape(3, 2), "b": np.arange(3)}
    objects = rows_to_objects(batch, np.array([True, False, True]))
    assert objects[1] is None
    objects[0]["a"][:] = 9
    assert batch["a"][0].tolist() == [0, 1]
    assert objects[2]["b"] == 2
    assert row_of(batch, 1)["a"].tolist() == [2, 3]


def test_masks_are_copies() -> None:
    mask = torch.tensor([True, False])
    both = masked({"a": torch.ones(2), "b": torch.ones(2)}, mask)
    both["_a"][:] = False
    assert mask.tolist() == both["_b"].tolist() == [True, False]


def test_timeless_drops_wall_times_only() -> None:
    env = vector("counter", 1, max_episode_steps=1)
    env.reset(seed=0)
    assert set(timeless(env.step([0])[4])["episode"]) == {"r", "l"}
