"""State in and out: whatever way a batch is copied, its future is the same to the bit."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from kit import package
from kit.tools import MODES, Actor, assert_same, play, rows, vector

from simulacrum.errors import StateError, UsageError

TESTS = Path(__file__).resolve().parents[1]


def through_dict(env: Any) -> Any:
    other = vector(env.package.name, env.num_envs, autoreset_mode=env.autoreset_mode, output=env.output,
                   max_episode_steps=env.max_episode_steps)  # fmt: skip
    other.load_state_dict(env.state_dict())
    return other


def through_file(env: Any) -> Any:
    file = io.BytesIO()
    torch.save(env.state_dict(), file)
    file.seek(0)
    other = through_dict(env)
    play(other, 2)
    other.load_state_dict(torch.load(file, weights_only=True))
    return other


WAYS: dict[str, Callable[[Any], Any]] = {
    "state_dict": through_dict,
    "torch.save": through_file,
    "fork": lambda env: env.fork(range(env.num_envs)),
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", MODES)
def test_every_copy_has_the_same_future(mode: str, way: str) -> None:
    # With the limit 4: mid-episode, fresh, just ended, after a reset.
    for name, output, chosen in (("forager", "torch", (3,)), ("glider", "numpy", (0, 4, 5))):
        for steps in chosen:
            env = vector(name, 3, autoreset_mode=mode, max_episode_steps=4, output=output)
            env.reset(seed=21)
            play(env, steps)
            copied = WAYS[way](env)
            assert copied.np_random_seed == env.np_random_seed
            first, second = Actor(env, 5), Actor(copied, 5)
            wanted = play(env, 11, first)
            assert_same(play(copied, 11, second), wanted, f"{name} after {steps}")
            assert_same(copied.reset()[0], env.reset()[0])


def test_copies_keep_what_they_were_built_with() -> None:
    env = vector("counter", 2, autoreset_mode="same_step", output="numpy", max_episode_steps=3, render_mode="ansi",
                 params={"goal": [2, 1000]}, episode_statistics=True)  # fmt: skip
    env.reset(seed=0)
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env), env.fork([0, 1])):
        for name in ("autoreset_mode", "output", "max_episode_steps", "render_mode", "episode_statistics", "form"):
            assert getattr(other, name) == getattr(env, name), name
        assert_same(tuple(other.params), tuple(env.params))
        assert other.metadata == env.metadata
        assert other.metadata is not env.metadata


def test_copies_are_independent() -> None:
    env = vector("forager", 2)
    env.reset(seed=0)
    other = copy.deepcopy(env)
    before = other.state_dict()
    play(env, 3)
    env.set_attr("gust", 0.0)
    assert_same(other.state_dict(), before)


def test_unreset_and_closed_envs_are_copied_as_they_are() -> None:
    env = vector("counter", 2)
    seeds = env.np_random_seed
    other = pickle.loads(pickle.dumps(env))
    assert other.np_random_seed == seeds
    assert_same(other.reset()[0], env.reset()[0])
    env.close()
    assert pickle.loads(pickle.dumps(env)).closed


ELSEWHERE = """
import pickle, sys, torch
from kit.tools import Actor, play
torch.set_num_threads(1)
with open(sys.argv[1], "rb") as file:
    envs = pickle.load(file)
with open(sys.argv[2], "wb") as file:
    pickle.dump([play(env, 11, Actor(env, 5)) for env in envs], file)
"""


def test_another_process_has_the_same_future(tmp_path: Path) -> None:
    envs = []
    for mode in MODES:
        for name in ("forager", "counter", "canvas"):
            envs.append(vector(name, 3, autoreset_mode=mode, max_episode_steps=4))
            envs[-1].reset(seed=21)
            play(envs[-1], 2)
    there, back = tmp_path / "envs.pickle", tmp_path / "outs.pickle"
    there.write_bytes(pickle.dumps(envs))
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, str(there), str(back)], cwd=TESTS, capture_output=True,
                          text=True, timeout=120)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(pickle.loads(back.read_bytes()), [play(env, 11, Actor(env, 5)) for env in envs])


def test_forked_rows_go_on_as_the_rows_they_came_from() -> None:
    env = vector("toywalk", 4, max_episode_steps=6)
    env.reset(seed=3)
    env.set_attr("slip", [0.0, 0.3, 0.6, 0.9])
    play(env, 4)
    index = [2, 2, 0]
    child = env.fork(torch.tensor(index))
    assert (child.num_envs, child.np_random_seed) == (3, (5, 5, 3))
    wanted = play(env, 9, Actor(env, 1))
    for out, parent in zip(play(child, 9, Actor(child, 1, row_ids=index)), wanted, strict=False):
        assert_same(out, tuple(rows(part, index) for part in parent))


@pytest.mark.parametrize("index", [[], [4], [-1], [0, 9]])
def test_rows_that_are_not_there_cannot_be_forked(index: list[int]) -> None:
    env = vector("toywalk", 4)
    env.reset(seed=0)
    with pytest.raises(UsageError, match="out of range"):
        env.fork(index)
    with pytest.raises(UsageError, match="nothing to fork"):
        vector("toywalk", 4).fork([0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.pop("seeds"), "not a state_dict"),
        (lambda data: data.update(format=99), "format"),
        (lambda data: data.update(env_id="simulacrum/other-v0"), "env_id"),
        (lambda data: data.update(num_envs=3), "num_envs"),
        (lambda data: data.update(autoreset_mode="SAME_STEP"), "autoreset_mode"),
        (lambda data: data.update(max_episode_steps=8), "max_episode_steps"),
        (lambda data: data.update(seeds=[1]), "seeds"),
        (lambda data: data.update(seeds=[1, -2]), "seeds"),
        (lambda data: data["env"].pop("count"), "count"),
        (lambda data: data["env"].update(count=torch.zeros(2)), "count"),
        (lambda data: data["clock"].update(t=torch.zeros(3, dtype=torch.int32)), "t does not fit"),
        (lambda data: data["params"].update(goal=3), "goal"),
        (lambda data: data.update(params=None), "goal"),
        (lambda data: data.update(clock=None), "does not fit"),
    ],
)
def test_a_state_dict_that_does_not_fit_changes_nothing(change: Any, words: str) -> None:
    env = vector("counter", 2)
    env.reset(seed=0)
    play(env, 2)
    before, data = env.state_dict(), env.state_dict()
    change(data)
    with pytest.raises(StateError, match=words):
        env.load_state_dict(data)
    assert_same(env.state_dict(), before)
    with pytest.raises(StateError, match="not a state_dict"):
        env.load_state_dict([1])  # type: ignore[arg-type]  # no dict is the test


@pytest.mark.parametrize("name", ["counter", "glider", "dials", "canvas", "rivals", "toywalk", "forager"])
def test_json_states_go_out_and_in(name: str) -> None:
    env = vector(name, 3)
    env.reset(seed=4)
    play(env, 3)
    states, observation = env.dump_states(), env.core.observe(env.state, env.params)[0]
    other = vector(name, 3)
    other.reset(seed=99)
    assert_same(other.load_states(states, t=env.state.t.tolist()), observation)
    assert other.dump_states() == states
    assert other.state.t.tolist() == env.state.t.tolist()
    assert other.state.returns.tolist() == [0.0, 0.0, 0.0]


def test_json_states_that_do_not_fit_change_nothing() -> None:
    env = vector("counter", 2)
    env.reset(seed=0)
    before, good = env.state_dict(), {"count": 1, "mark": 2}
    for states, t, words in (
        ([good], 0, "wrong number of states"),
        ([good, {"count": 1}], 0, "row 1"),
        ([good, {"count": -1, "mark": 0}], 0, "row 1"),
        ([good, good], [1], "step counters"),
        ([good, good], -1, "step counters"),
        ([good, good], [0, 2**31], "step counters"),
    ):
        with pytest.raises(StateError, match=words):
            env.load_states(states, t=t)
        assert_same(env.state_dict(), before)
    env.load_states([good, good], t=torch.tensor(3).item())
    assert package("counter").schema.max_episode_steps == 7
    assert env.step([0, 0])[0][:, 0].tolist() == [2.0, 2.0]
