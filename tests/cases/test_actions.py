"""Actions: range, NaN, shape, layout, composite spaces."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import kit
import numpy as np
import pytest
import torch
from gymnasium.vector.utils import batch_space
from kit.tools import MODES, Actor, assert_same, vector

from simulacrum.engine.single import SimulacrumEnv
from simulacrum.errors import ActionError


def refused(name: str, action: Any, words: str, mode: str = "next_step", num_envs: int = 3) -> None:
    env = vector(name, num_envs, autoreset_mode=mode)
    env.reset(seed=0)
    before = env.state_dict()
    with pytest.raises(ActionError, match=words):
        env.step(action)
    assert_same(env.state_dict(), before)


@pytest.mark.parametrize("mode", MODES)
def test_b29_out_of_range_names_the_row_and_the_bound(mode: str) -> None:
    refused("counter", [0, 2, 1], r"in row 1\n.*Discrete \[0, 1\]", mode)
    refused("counter", [0, 1, -1], r"in row 2\n", mode)
    refused("glider", [[0.0, 0.0], [0.0, 0.0], [3.0, 0.0]], r"in row 2\n.*Box \[-1", mode)
    refused("canvas", {"cell": [0, -2, 16], "ink": [[0, 0, 0]] * 3}, r"in row 1, 2\n", mode)


def test_b29_the_single_env_refuses_the_same() -> None:
    for name, action in (("counter", 2), ("counter", -1), ("glider", [3.0, 0.0])):
        env = SimulacrumEnv(kit.package(name))
        env.reset(seed=0)
        with pytest.raises(ActionError, match="outside the action space"):
            env.step(action)


@pytest.mark.parametrize("mode", MODES)
def test_b31_nan_and_infinities_are_refused(mode: str) -> None:
    nan, inf = float("nan"), float("inf")
    refused("glider", [[0.0, 0.0], [nan, 0.0], [0.0, -inf]], r"in row 1, 2\n", mode)
    refused("glider", np.array([[inf, 0.0], [0.0, 0.0], [0.0, 0.0]]), r"in row 0\n", mode)
    for bad in (nan, inf, -inf):
        env = SimulacrumEnv(kit.package("glider"))
        env.reset(seed=0)
        with pytest.raises(ActionError):
            env.step([bad, 0.0])


@pytest.mark.parametrize("shape", [(4, 1), (1, 4), (), (3,), (5,), (0,), (4, 4)])
def test_b32_only_n_for_a_discrete_space(shape: tuple[int, ...]) -> None:
    refused("counter", torch.zeros(shape, dtype=torch.int64), "wrong shape", num_envs=4)
    refused("counter", np.zeros(shape, dtype=np.int64), "wrong shape", num_envs=4)


@pytest.mark.parametrize("shape", [(4,), (2,), (4, 2, 1), (1, 2), (2, 4), (3, 2), (4, 1)])
def test_b32_only_n_by_d_for_a_box(shape: tuple[int, ...]) -> None:
    refused("glider", torch.zeros(shape), "wrong shape", num_envs=4)


def test_b32_one_row_is_not_broadcast_or_squeezed() -> None:
    refused("counter", torch.tensor(1), "wrong shape", num_envs=1)
    refused("counter", torch.zeros(1, 1, dtype=torch.int64), "wrong shape", num_envs=1)
    refused("glider", torch.zeros(2), "wrong shape", num_envs=1)
    refused("glider", torch.zeros(2, 1), "wrong shape", num_envs=2)


LAYOUTS = """
import gymnasium as gym, numpy as np, torch
from kit.tools import assert_same, vector
torch.set_num_threads(1)
def run(actions, name, wrap):
    env = vector(name, 4); env.reset(seed=0)
    return env.step(actions)[:4]
for name, plain in (("counter", np.array([0, 1, 1, 0])), ("dials", np.array([[0, 2], [1, 0], [1, 1], [0, 0]]))):
    wanted = run(plain, name, False)
    spaced = np.zeros((8, *plain.shape[1:]), dtype=plain.dtype); spaced[::2] = plain
    locked = plain.copy(); locked.flags.writeable = False
    turned = [plain[::-1].copy()[::-1], np.flip(np.flip(plain).copy()), plain.T.copy().T, np.asfortranarray(plain)]
    for layout in (*turned, spaced[::2], locked, plain.astype(">i4")):
        assert_same(run(layout, name, False), wanted)
    for empty in (plain[:0], plain[::-1][:3]):
        try:
            run(empty, name, False)
        except ValueError as error:
            assert "wrong shape" in str(error)
out = vector("counter", 4, output="numpy"); out.reset(seed=0)
assert all(part.flags.c_contiguous for part in out.step(np.array([0, 1, 1, 0])[::-1])[:4])
print("alive")
"""


def test_b38_negative_strides_do_not_end_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", LAYOUTS], cwd=kit.FOLDER.parent, capture_output=True, text=True,
                          timeout=120)  # fmt: skip
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "alive", "")


def test_b50_composite_spaces_are_batched_as_gymnasium_does() -> None:
    dials, canvas, glider = (vector(name, 3) for name in ("dials", "canvas", "glider"))
    assert dials.single_action_space == gym.spaces.MultiDiscrete([2, 3])
    assert isinstance(dials.action_space, gym.spaces.Box)
    assert (dials.action_space.shape, dials.action_space.dtype) == ((3, 2), np.int64)
    assert isinstance(canvas.single_action_space, gym.spaces.Dict)
    assert isinstance(canvas.action_space["cell"], gym.spaces.MultiDiscrete)
    assert canvas.action_space["cell"].start.tolist() == [-1] * 3
    assert canvas.action_space["ink"].dtype == np.uint8
    assert glider.observation_space["low"].dtype == np.int8
    for env in (dials, canvas, glider):
        assert env.action_space == batch_space(env.single_action_space, 3)
        assert env.observation_space == batch_space(env.single_observation_space, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["dials", "canvas", "glider", "rivals"])
def test_b50_every_sample_is_accepted(name: str, mode: str) -> None:
    env = vector(name, 3, autoreset_mode=mode, output="numpy")
    env.action_space.seed(0)
    observation, _ = env.reset(seed=0)
    for _ in range(12):
        assert env.observation_space.contains(observation)
        if mode == "disabled":
            env.reset()
        observation = env.step(env.action_space.sample())[0]


def test_b50_the_order_of_keys_does_not_matter() -> None:
    env, twin = vector("canvas", 3), vector("canvas", 3)
    env.reset(seed=0)
    twin.reset(seed=0)
    action = Actor(env)()
    turned = dict(reversed(list(action.items())))
    assert list(turned) != list(action)
    assert_same(env.step(action)[:4], twin.step(turned)[:4])


def test_b50_a_space_that_is_not_supported_is_refused_when_the_schema_is_read() -> None:
    import copy

    from simulacrum.contract.schema import parse_schema
    from simulacrum.errors import SchemaError

    raw = copy.deepcopy(kit.package("dials").schema.raw)
    raw["properties"]["action"]["x-space"] = "Tuple"
    with pytest.raises(SchemaError, match="Tuple"):
        parse_schema(raw, "schema.json")
