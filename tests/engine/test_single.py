"""The reference as an ordinary Gymnasium env, alone and in Gymnasium's own vectors."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from kit import NAMES, package
from kit.tools import Actor, leaves, vector

import simulacrum  # noqa: F401  # registers the ids
from simulacrum.engine.single import SimulacrumEnv
from simulacrum.errors import ActionError, ClosedError, UsageError


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "ansi"])
@pytest.mark.parametrize("env_id", ["simulacrum/toywalk-v0", "simulacrum/forager-v0"])
def test_gymnasiums_checker_has_nothing_to_say(env_id: str, render_mode: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(env_id, render_mode=render_mode)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_checker_over_every_kind_of_space(name: str) -> None:
    spec = gym.envs.registration.EnvSpec(
        f"kit/{name}-v0", entry_point="simulacrum.registry:make_single", max_episode_steps=5,
        kwargs={"package": str(package(name).folder)},
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Advice to agents, not a fault: canvas' ink goes from 0 to 255.
        warnings.filterwarnings("ignore", message=".*symmetric and normalized")
        env = gym.make(spec)
        check_env(env.unwrapped)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("env_id", ["simulacrum/toywalk-v0", "simulacrum/forager-v0"])
def test_gymnasiums_vectors_equal_the_batch(env_id: str, way: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = gym.make_vec(env_id, num_envs=3, vectorization_mode=way, max_episode_steps=9)
        name = env_id.split("/")[1].removesuffix("-v0")
        ours = vector(name, 3, output="numpy", max_episode_steps=9)
        pairs = [(ours.reset(seed=5), theirs.reset(seed=5))]
        actor = Actor(ours)
        for _ in range(25):
            action = actor().numpy()
            pairs.append((ours.step(action), theirs.step(action)))
        theirs.close()
    for a, b in pairs:
        assert a[0].tobytes() == b[0].tobytes()
        if len(a) == 5:
            assert a[1].astype(np.float64).tobytes() == b[1].tobytes()
            assert (a[2].tolist(), a[3].tolist()) == (b[2].tolist(), b[3].tolist())


@pytest.mark.parametrize("name", [*NAMES, "toywalk"])
def test_row_i_of_a_batch_is_the_single_env_of_its_seed(name: str) -> None:
    batch = vector(name, 3, output="numpy", autoreset_mode="disabled", max_episode_steps=None)
    observation, info = batch.reset(seed=30)
    actor = Actor(batch)
    out, action = batch.step(actor()), actor.one
    for row in range(3):
        env = SimulacrumEnv(package(name))
        first, first_info = env.reset(seed=30 + row)
        assert env.observation_space.contains(first)
        seen = env.step(action(row, 0))
        for ours, theirs in ((first, observation), (seen[0], out[0]), (first_info, info), (seen[4], out[4])):
            for (path, a), (_, b) in zip(leaves(ours), leaves(theirs), strict=False):
                assert np.asarray(a).dtype == b.dtype, path
                assert np.asarray(a).tobytes() == b[row].tobytes(), path
        assert (seen[1], seen[2], seen[3]) == (out[1][row], out[2][row], out[3][row])
        assert isinstance(seen[1], float)


def test_seeds_and_episodes() -> None:
    env, other = SimulacrumEnv("forager"), SimulacrumEnv("forager")
    first = env.reset(seed=3)[0]
    second = env.reset()[0]
    assert first.tobytes() != second.tobytes()
    assert env.reset(seed=3)[0].tobytes() == first.tobytes()
    assert env.reset()[0].tobytes() == second.tobytes()
    assert env.np_random_seed == 3
    unseeded = other.reset()[0]
    env.np_random  # noqa: B018  # Gymnasium makes its generator when it is looked at
    assert other.np_random_seed >= 0
    other.np_random  # noqa: B018  # as above
    assert env.reset(seed=other.np_random_seed)[0].tobytes() == unseeded.tobytes()
    for seed in (-1, 2**64, "x", 1.5, True):
        with pytest.raises(UsageError, match="seed"):
            env.reset(seed=seed)  # type: ignore[arg-type]  # some are no ints


@pytest.mark.parametrize(
    ("name", "bad"),
    [("counter", 2), ("counter", -1), ("counter", 0.0), ("counter", [0]), ("counter", None), ("counter", "a"),
     ("glider", [0.0, 3.0]), ("glider", [float("nan"), 0.0]), ("glider", [float("inf"), 0.0]), ("glider", [0.0]),
     ("glider", [1e300, 0.0]), ("glider", 0.0), ("dials", [2, 0]), ("dials", [0, -1]), ("dials", [0.0, 0.0]),
     ("dials", [0, 0, 0]), ("canvas", 3), ("canvas", {"cell": 0}), ("canvas", {"cell": 16, "ink": [0, 0, 0]}),
     ("canvas", {"cell": 0, "ink": [0, 256, 0]}), ("canvas", {"cell": 0, "ink": [0, -1, 0]}),
     ("canvas", {"cell": 0, "ink": [0, 0, 0], "more": 1})],
    ids=str,
)  # fmt: skip
def test_a_bad_action_steps_nothing(name: str, bad: Any) -> None:
    env = SimulacrumEnv(package(name))
    env.reset(seed=0)
    before = env.runner.state, env.runner.t
    with pytest.raises(ActionError, match="outside the action space"):
        env.step(bad)
    assert (env.runner.state, env.runner.t) == before


@pytest.mark.parametrize(
    ("name", "good"),
    [("counter", np.int32(1)), ("counter", np.array(1)), ("counter", torch.tensor(1)), ("glider", [0.5, 1.0]),
     ("glider", np.array([0.5, 1.0])), ("glider", torch.tensor([0.5, 1.0])), ("dials", [1, 2]),
     ("dials", np.array([1, 2], dtype=np.uint8)), ("dials", torch.tensor([1, 2])),
     ("canvas", {"ink": np.array([0, 255, 3]), "cell": -1}), ("canvas", {"cell": 15, "ink": [0, 0, 0]})],
    ids=str,
)  # fmt: skip
def test_actions_in_every_form(name: str, good: Any) -> None:
    env = SimulacrumEnv(package(name))
    env.reset(seed=0)
    assert env.observation_space.contains(env.step(good)[0])


def test_what_is_out_of_order() -> None:
    env = SimulacrumEnv(package("counter"), params={"goal": 2}, render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.render()):
        with pytest.raises(gym.error.ResetNeeded):
            call()
    env.reset(seed=0)
    env.step(0)
    assert env.step(0)[2] is True
    with pytest.raises(gym.error.ResetNeeded, match="has ended"):
        env.step(0)
    env.reset()
    assert env.render().startswith("count 0")
    with pytest.raises(UsageError, match="reset options"):
        env.reset(options={"x": 1})
    env.close()
    env.close()
    for call in (lambda: env.step(0), lambda: env.reset()):
        with pytest.raises(ClosedError):
            call()
    with pytest.raises(UsageError, match="render mode"):
        SimulacrumEnv(package("counter"), render_mode="human")
    with pytest.raises(UsageError, match=r"no render\.py"):
        SimulacrumEnv(package("dials"), render_mode="ansi")


def test_the_time_limit_has_one_owner() -> None:
    env = gym.make("simulacrum/toywalk-v0", max_episode_steps=3, params={"slip": 1.0})
    env.reset(seed=0)
    flags = [env.step(1)[2:4] for _ in range(3)]
    assert flags == [(False, False), (False, False), (False, True)]
    assert env.spec.max_episode_steps == 3


def test_a_copy_goes_on_alike() -> None:
    env = SimulacrumEnv(package("toywalk"))
    env.reset(seed=4)
    env.step(1)
    other = pickle.loads(pickle.dumps(env))
    for action in (0, 1, 1, 0, 1):
        assert env.step(action)[0].tobytes() == other.step(action)[0].tobytes()
    assert env.reset()[0].tobytes() == other.reset()[0].tobytes()


def test_the_single_face_loads_no_torch() -> None:
    code = (
        "import sys, gymnasium, simulacrum; env = gymnasium.make('simulacrum/forager-v0'); env.reset(seed=0); "
        "env.step(0); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("False", "")
