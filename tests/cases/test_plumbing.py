"""make_vec, masks, pickling, closing."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import gymnasium as gym
import kit
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from kit.tools import MODES, Actor, assert_same, play, rows, vector

from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import ClosedError, UsageError

GIVEN: dict[str, Any] = {
    "autoreset_mode": "same_step",
    "device": "cpu",
    "output": "numpy",
    "compile": False,
    "max_episode_steps": 9,
    "params": {"goal": 5, "spread": 1},
    "render_mode": "ansi",
    "episode_statistics": True,
}


def read(env: Any) -> dict[str, Any]:
    return {
        "autoreset_mode": env.autoreset_mode.name.lower(),
        "device": str(env.device),
        "output": env.output,
        "compile": env.form != "eager",
        "max_episode_steps": env.max_episode_steps,
        "params": {"goal": env.get_attr("goal")[0], "spread": env.get_attr("spread")[0]},
        "render_mode": env.render_mode,
        "episode_statistics": env.episode_statistics,
    }


@pytest.mark.parametrize("key", GIVEN)
def test_b40_each_keyword_arrives(counter_id: str, key: str) -> None:
    by_call = gym.make_vec(counter_id, num_envs=2, **{key: GIVEN[key]})
    spec = copy.deepcopy(gym.spec(counter_id))
    spec.kwargs[key] = GIVEN[key]
    for env in (by_call, gym.make_vec(spec, num_envs=2)):
        assert read(env)[key] == GIVEN[key]
        assert env.spec is not None
        assert env.spec.kwargs[key] == GIVEN[key]


def test_b40_the_caller_wins_and_the_spec_rebuilds_it(counter_id: str) -> None:
    spec = copy.deepcopy(gym.spec(counter_id))
    spec.kwargs.update({**GIVEN, "output": "torch", "max_episode_steps": 3})
    env = gym.make_vec(spec, num_envs=3, output="numpy", max_episode_steps=9)
    assert read(env) == GIVEN
    assert env.spec is not None
    assert env.spec.max_episode_steps == 9
    for other in (gym.make_vec(env.spec), gym.make_vec(EnvSpec.from_json(env.spec.to_json()))):
        assert isinstance(other, SimulacrumVectorEnv)
        assert other.num_envs == 3
        assert read(other) == GIVEN
        assert other.spec == env.spec
        other.reset(seed=1)
        env.reset(seed=1)
        assert_same(play(other, 12), play(env, 12))


def test_b40_unknown_keywords_raise(counter_id: str) -> None:
    with pytest.raises(UsageError, match="did you mean 'output'"):
        gym.make_vec(counter_id, num_envs=2, outptu="numpy")
    assert gym.make_vec(counter_id, num_envs=2).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert "num_envs" not in gym.spec(counter_id).kwargs


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor], ids=["list", "ndarray", "tensor"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "chosen", [[True], [True, False, False, False], [True] * 4, [True, False, True, False]], ids=str
)
def test_b41_masks_of_every_kind(chosen: list[bool], mode: str, kind: Any) -> None:
    num_envs = len(chosen)
    env, twin = (vector("forager", num_envs, autoreset_mode=mode) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=0)
        play(each, 3)
    observation, _ = env.reset(options={"reset_mask": kind(chosen)})
    assert observation.shape == (num_envs, 23)
    assert env.state.episode.tolist() == [int(value) for value in chosen]
    kept = [row for row in range(num_envs) if not chosen[row]]
    assert_same(rows(observation, kept), rows(twin.core.observe(twin.state, twin.params)[0], kept))
    assert_same(rows(twin.reset()[0], chosen), rows(observation, chosen))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "wrong",
    [[False] * 4, [True] * 3, [True] * 5, [1, 0, 1, 0], np.ones(4), np.ones((4, 1), dtype=bool), "all", 7],
    ids=str,
)
def test_b41_other_masks_raise_before_anything_changes(wrong: Any, mode: str) -> None:
    env = vector("forager", 4, autoreset_mode=mode)
    env.reset(seed=0)
    before = env.state_dict()
    with pytest.raises(UsageError, match="reset_mask"):
        env.reset(seed=5, options={"reset_mask": wrong})
    assert_same(env.state_dict(), before)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["counter", "forager"])
def test_b44_copies_have_the_originals_future(name: str, mode: str) -> None:
    for taken in (3, 4):  # in an episode, and at its end
        env = vector(name, 3, autoreset_mode=mode, max_episode_steps=4)
        env.reset(seed=8)
        play(env, taken)
        saved = vector(name, 3, autoreset_mode=mode, max_episode_steps=4)
        saved.load_state_dict(env.state_dict())
        copies = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env), saved, env.fork([0, 1, 2])]
        disturbed = copy.deepcopy(env)
        play(disturbed, 5, Actor(disturbed, 77))
        wanted = play(env, 15, Actor(env, 2))
        for other in copies:
            assert_same(play(other, 15, Actor(other, 2)), wanted)
            assert_same(other.reset()[0], env.fork([0, 1, 2]).reset()[0])


def test_b44_a_copy_of_a_gated_env_in_another_process(counter_id: str, tmp_path: Any) -> None:
    env = gym.make_vec(counter_id, num_envs=2, params={"goal": [3, 4]})
    env.reset(seed=0)
    env.step([0, 0])
    (tmp_path / "env").write_bytes(pickle.dumps(env))
    code = (
        "import pickle, sys; from pathlib import Path; env = pickle.loads(Path(sys.argv[1]).read_bytes()); "
        "print(env.step([0, 0])[0].tolist(), env.spec.id)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "env")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.strip() == f"{env.step([0, 0])[0].tolist()} {counter_id}"


def test_b49_close_is_silent_and_final(counter_id: str) -> None:
    env = gym.make_vec(counter_id, num_envs=2, output="numpy")
    wrapped = gym.wrappers.vector.NormalizeReward(gym.wrappers.vector.RecordEpisodeStatistics(env))
    wrapped.reset(seed=0)
    wrapped.close()
    wrapped.close()
    env.close()
    env.close()
    for call in (lambda: env.step([0, 0]), lambda: wrapped.step(np.zeros(2, dtype=np.int64)), lambda: env.reset()):
        with pytest.raises(ClosedError):
            call()


LEFT = """
import gymnasium as gym
from kit.tools import vector
gone = vector("counter", 2)
gone.reset(seed=0)
del gone
closed = vector("counter", 2)
closed.close()
wrapped = gym.wrappers.vector.RecordEpisodeStatistics(vector("counter", 2, output="numpy"))
kept = vector("counter", 2)
kept.reset()
kept.step([0, 0])
for wrong in ({"num_envs": 0}, {"device": "cuda:99"}, {"params": {"x": 1}}):
    try:
        vector(**wrong)
    except Exception as error:
        broken = error.__traceback__
"""


def test_b49_nothing_on_stderr_at_the_end() -> None:
    command = [sys.executable, "-W", "error", "-c", LEFT]
    done = subprocess.run(command, cwd=kit.FOLDER.parent, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
