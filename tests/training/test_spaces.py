"""training/common/spaces.py: sizes and bounds, and a plain word for spaces that a script cannot use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import numpy as np
import pytest
import torch

from simulacrum.contract.package import EnvPackage

Script = Callable[[str], ModuleType]


@pytest.fixture
def common(script: Script) -> ModuleType:
    return script("common")


def test_sizes_and_bounds(common: ModuleType) -> None:
    assert common.observation_size(gym.spaces.Box(-np.inf, np.inf, (5,)), "x.py") == 5
    assert common.action_count(gym.spaces.Discrete(3), "x.py") == 3
    low, high = np.array([-2, 0], np.float32), np.array([2, 1], np.float32)
    centre, reach = common.action_bounds(gym.spaces.Box(low, high), "x.py")
    assert (centre.tolist(), reach.tolist()) == ([0.0, 0.5], [2.0, 0.5])


def test_unusable_spaces_are_named(common: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"x\.py reads observations that are one vector"):
        common.observation_size(gym.spaces.Box(0, 1, (4, 4)), "x.py")
    with pytest.raises(SystemExit, match="MultiDiscrete"):
        common.action_count(gym.spaces.MultiDiscrete([2, 2]), "x.py")
    with pytest.raises(SystemExit, match="begin at 0"):
        common.action_count(gym.spaces.Discrete(2, start=1), "x.py")
    with pytest.raises(SystemExit, match="bounded"):
        common.action_bounds(gym.spaces.Box(-np.inf, np.inf, (1,)), "x.py")
    with pytest.raises(SystemExit, match="Discrete"):
        common.action_bounds(gym.spaces.Discrete(2), "x.py")


def test_a_vector_of_numbers_is_handed_on_as_it_is(common: ModuleType) -> None:
    look = common.Vector(gym.spaces.Box(-np.inf, np.inf, (3,)), "x.py")
    seen = torch.randn(5, 3)
    assert look(seen) is seen
    assert look.size == 3


def test_bounded_numbers_are_scaled_where_told_to(common: ModuleType) -> None:
    space = gym.spaces.Box(np.array([-1.2, -0.07, 3], np.float32), np.array([0.6, 0.07, 3], np.float32))
    look = common.Vector(space, "x.py", scale=True)
    ends = torch.from_numpy(np.stack([space.low, (space.low + space.high) / 2, space.high]))
    expected = torch.tensor([[-1.0, -1, -1], [0, 0, -1], [1, 1, -1]])  # a number that cannot vary stays one
    torch.testing.assert_close(look(ends), expected)
    with pytest.raises(SystemExit, match=r"x\.py --scale needs observations with finite bounds"):
        common.Vector(gym.spaces.Box(-np.inf, np.inf, (2,)), "x.py", scale=True)


def test_a_choice_is_one_hot(common: ModuleType) -> None:
    look = common.Vector(gym.spaces.Discrete(4, start=-1), "x.py")
    assert look(torch.tensor([-1, 2])).tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    assert look(common.batch_of_one(np.int64(0))).tolist() == [[0.0, 1.0, 0.0, 0.0]]
    several = common.Vector(gym.spaces.MultiDiscrete([2, 3], start=[0, 5]), "x.py")
    assert several.size == 5
    assert several(torch.tensor([[1, 5], [0, 7]])).tolist() == [[0.0, 1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0]]


def test_bounded_integers_lie_between_0_and_1_and_images_are_flattened(common: ModuleType) -> None:
    low, high = np.array([[0, 10], [0, -4]]), np.array([[255, 20], [0, 4]])
    look = common.Vector(gym.spaces.Box(low, high, dtype=np.int64), "x.py")
    seen = torch.tensor([[[51, 10], [0, 0]], [[255, 15], [0, 4]]])
    torch.testing.assert_close(look(seen), torch.tensor([[0.2, 0.0, 0.0, 0.5], [1.0, 0.5, 0.0, 1.0]]))
    bits = common.Vector(gym.spaces.MultiBinary([2, 2]), "x.py")
    assert bits(torch.tensor([[[1, 0], [0, 1]]], dtype=torch.int8)).tolist() == [[1.0, 0.0, 0.0, 1.0]]


def test_the_parts_of_a_dict_follow_each_other(common: ModuleType) -> None:
    """As in MiniGrid: what is seen, and which way one looks."""
    parts = {"image": gym.spaces.Box(0, 10, (2, 2, 1), np.uint8), "direction": gym.spaces.Discrete(4)}
    look = common.Vector(gym.spaces.Dict(list(parts.items())), "x.py")
    assert look.size == 8
    batch = {"direction": torch.tensor([3, 1]), "image": torch.arange(8, dtype=torch.uint8).view(2, 2, 2, 1)}
    one = {"direction": np.int64(3), "image": np.arange(4, dtype=np.uint8).reshape(2, 2, 1)}
    wanted = {"image": [0.0, 0.1, 0.2, 0.3], "direction": [0.0, 0.0, 0.0, 1.0]}
    row = [number for name in look.parts for number in wanted[name]]
    assert look(batch)[0].tolist() == pytest.approx(row)
    assert torch.equal(look(common.batch_of_one(one)), look(batch)[:1])


def test_numbers_that_are_names_are_one_hot_and_larger_ones_are_none(common: ModuleType) -> None:
    parts = {"image": gym.spaces.Box(0, 255, (1, 2), np.uint8), "speed": gym.spaces.Box(0, 1, (1,))}
    look = common.Vector(gym.spaces.Dict(list(parts.items())), "x.py", one_hot=3)
    seen = {"image": torch.tensor([[[0, 2]], [[3, 1]]], dtype=torch.uint8), "speed": torch.tensor([[0.5], [0.25]])}
    assert look.size == 7
    assert look(seen).tolist() == [[1.0, 0, 0, 0, 0, 1, 0.5], [0.0, 0, 0, 0, 1, 0, 0.25]]


def test_what_is_kept_has_one_number_for_a_choice(common: ModuleType) -> None:
    parts = {
        "image": gym.spaces.Box(0, 10, (3, 3, 2), np.uint8),
        "mode": gym.spaces.Discrete(4, start=2),
        "speed": gym.spaces.Box(0, 1, (2,)),
    }
    look = common.Vector(gym.spaces.Dict(list(parts.items())), "x.py", one_hot=11)
    assert (look.narrow_size, look.size) == (18 + 1 + 2, 198 + 4 + 2)
    seen = {
        "image": torch.randint(11, (5, 3, 3, 2), dtype=torch.uint8),
        "mode": torch.tensor([2, 3, 4, 5, 2]),
        "speed": torch.rand(5, 2),
    }
    kept = look.narrow(seen)
    assert kept.shape == (5, 21)
    assert torch.equal(look.spread(kept), look(seen))
    assert look(seen).sum(dim=-1).tolist() == pytest.approx((19 + seen["speed"].sum(dim=-1)).tolist())


def test_a_space_without_a_form_as_a_vector_is_named(common: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"x\.py reads observations of .*Text"):
        common.Vector(gym.spaces.Text(3), "x.py")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ppo", {"num_envs": 64, "minibatch": 256, "epochs": 4, "learning_rate": 1e-2, "compile_policy": False}),
        ("pqn", {"num_envs": 64, "minibatch": 128, "learning_rate": 3e-3}),
        pytest.param("dqn", {"num_envs": 16, "learning_rate": 3e-3}, marks=[pytest.mark.long, pytest.mark.nightly]),
    ],
)
def test_a_choice_beside_an_image_is_learned(
    name: str, size: dict[str, object], script: Script, shown: EnvPackage, tmp_path: Path
) -> None:
    """Right in all four steps of an episode is only who reads both parts of the observation."""
    module = script(name)
    size = {"total_steps": 16_000, "num_steps": 16, "gamma": 0.5, "width": 32, **size}
    run = module.Args(env_id="simulacrum/shown-v0", runs=tmp_path, eval_episodes=20, eval_seeds=1, **size)
    trained = next(iter(module.main(run)["reference"].values()))
    assert trained["return"] == 4.0
