"""The Gymnasium face: construction, reset with seeds and masks, clocks, names, closing."""

from __future__ import annotations

import gc
import random
import warnings
import weakref
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from kit import NAMES, package
from kit.tools import MODES, Actor, advance, assert_same, clone, leaves, play, rows, timeless, vector

from simulacrum.engine.vector import SimulacrumVectorEnv
from simulacrum.errors import ClosedError, DeviceError, UnknownEnvError, UsageError

# --- what it is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_attributes_that_gymnasium_reads(name: str, num_envs: int) -> None:
    env = vector(name, num_envs)
    assert isinstance(env, gym.vector.VectorEnv)
    assert env.num_envs == num_envs
    assert env.observation_space == batch_space(env.single_observation_space, num_envs)
    assert env.action_space == batch_space(env.single_action_space, num_envs)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP is env.autoreset_mode
    assert env.metadata["render_modes"] == (["rgb_array", "ansi"] if name == "counter" else [])
    assert env.metadata is not vector(name, num_envs).metadata
    assert env.unwrapped is env
    assert env.spec is None
    assert not env.closed
    assert (env.package, env.schema.name) == (package(name), name)
    assert name in repr(env)


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("next_step", AutoresetMode.NEXT_STEP),
        ("NextStep", AutoresetMode.NEXT_STEP),
        ("SAME_STEP", AutoresetMode.SAME_STEP),
        ("same-step", AutoresetMode.SAME_STEP),
        ("disabled", AutoresetMode.DISABLED),
        (AutoresetMode.SAME_STEP, AutoresetMode.SAME_STEP),
    ],
)
def test_modes_go_by_member_or_name(given: Any, mode: AutoresetMode) -> None:
    assert vector(autoreset_mode=given).autoreset_mode is mode


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"num_envs": 0}, "num_envs"),
        ({"num_envs": 2.0}, "num_envs"),
        ({"num_envs": True}, "num_envs"),
        ({"autoreset_mode": "sometimes"}, "next_step"),
        ({"autoreset_mode": None}, "autoreset mode"),
        ({"output": "jax"}, "numpy"),
        ({"compile": "fortran"}, "inductor"),
        ({"max_episode_steps": 0}, "max_episode_steps"),
        ({"max_episode_steps": 2.5}, "max_episode_steps"),
        ({"max_episode_steps": "five"}, "max_episode_steps"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"params": {"gaol": 3}}, "gaol"),
        ({"params": {"goal": [1, 2]}}, "one a row"),
        ({"params": {"goal": 5000}}, "5000"),
        ({"params": {"goal": 2.5}}, "2.5"),
    ],
    ids=str,
)
def test_wrong_arguments_raise_before_anything_is_built(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        vector(**wrong)


@pytest.mark.parametrize("device", ["cuda:99", "meta", "nowhere", "xpu"])
def test_a_device_that_is_not_there(device: str) -> None:
    if device.startswith("xpu") and torch.xpu.is_available():
        pytest.skip("it is there")
    with pytest.raises(DeviceError, match="not usable here") as caught:
        vector(device=device)
    assert "simulacrum doctor" in str(caught.value)


def test_a_package_without_drawings_refuses_a_render_mode() -> None:
    with pytest.raises(UsageError, match=r"no render\.py"):
        vector("dials", render_mode="rgb_array")
    with pytest.raises(UnknownEnvError, match="counterr"):
        SimulacrumVectorEnv("counterr")


# --- reset --------------------------------------------------------------------------------------------------


def test_reset_takes_every_kind_of_seed() -> None:
    env = vector("toywalk", 4)
    wanted = env.reset(seed=7)[0]
    for seed in ([7, 8, 9, 10], (7, 8, 9, 10), np.arange(7, 11), np.int64(7), np.uint8(7), np.array(7)):
        assert_same(env.reset(seed=seed)[0], wanted)
        assert env.np_random_seed == (7, 8, 9, 10)
    mixed = env.reset(seed=[None, 100, None, 3])
    assert env.np_random_seed == (7, 100, 9, 3)
    assert env.state.episode.tolist() == [1, 0, 1, 0]
    assert env.reset(seed=2**64 - 4)[0].shape == mixed[0].shape


@pytest.mark.parametrize(
    "seed", [-1, 1.5, "7", True, [1, 2], [1, 2, 3, 4, 5], [1, 2, 3, -4], [1, 2, 3, 0.5], 2**64 - 3, 2**64,
             np.arange(4.0), np.zeros((4, 1), dtype=int), {1, 2, 3, 4}], ids=str
)  # fmt: skip
def test_a_seed_that_is_none_changes_nothing(seed: Any) -> None:
    env = vector("toywalk", 4)
    env.reset(seed=1)
    before = env.state_dict()
    with pytest.raises(UsageError, match="seed") as caught:
        env.reset(seed=seed)
    assert isinstance(caught.value, ValueError)
    assert_same(env.state_dict(), before)


def test_an_unseeded_env_takes_entropy_and_says_which() -> None:
    env, again = vector("forager", 3), vector("forager", 3)
    seeds = env.np_random_seed
    first = env.reset()[0]
    assert env.np_random_seed == seeds
    assert len(set(seeds)) == 3
    assert env.state.episode.tolist() == [0, 0, 0]
    assert_same(again.reset(seed=list(seeds))[0], first)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "mask",
    [[True, False, True], np.array([True, False, True]), torch.tensor([True, False, True]), (True, False, True)],
    ids=lambda mask: type(mask).__name__,
)
def test_a_masked_reset_moves_only_its_rows(mask: Any, mode: str) -> None:
    env, twin = (vector("forager", 3, autoreset_mode=mode, max_episode_steps=20) for _ in range(2))
    env.reset(seed=5)
    twin.reset(seed=5)
    play(env, 6)
    play(twin, 6)
    before, options = env.state, {"reset_mask": mask}
    observation, info = env.reset(options=options)
    assert observation.shape == (3, 23)
    assert options["reset_mask"] is mask
    assert info["_eaten"].tolist() == [True, False, True]
    assert env.state.episode.tolist() == [1, 0, 1]
    assert env.state.t.tolist() == [0, 6, 0]
    assert env.state.returns[[0, 2]].tolist() == [0.0, 0.0]
    for part, kept in zip(env.state.env, before.env, strict=False):
        assert_same(part[1], kept[1])
    actor, other = Actor(env, 9), Actor(twin, 9)
    for _ in range(10):
        a, b = advance(env, actor()), advance(twin, other())
        assert_same(rows(a[:4], 1), rows(b[:4], 1))
    fresh = vector("forager", 3, autoreset_mode=mode)
    fresh.reset(seed=5)
    assert_same(fresh.reset()[0][[0, 2]], observation[[0, 2]])


def test_a_masked_reset_may_bring_seeds() -> None:
    env = vector("toywalk", 3)
    env.reset(seed=0)
    play(env, 3)
    env.reset(seed=50, options={"reset_mask": [False, True, False]})
    assert env.np_random_seed == (0, 51, 2)
    assert env.state.episode.tolist() == [0, 0, 0]
    assert env.state.t.tolist() == [3, 0, 3]


@pytest.mark.parametrize(
    "mask", [[False] * 3, [True, False], [True] * 4, [1, 0, 1], [1.0, 0.0, 1.0], [[True], [False], [True]], "yes",
             True, torch.tensor([1, 0, 1]), np.array(["a", "b", "c"]), [True, None, False], [[True], [True, False]]],
    ids=str,
)  # fmt: skip
def test_a_mask_that_is_none_changes_nothing(mask: Any) -> None:
    env = vector("toywalk", 3)
    env.reset(seed=1)
    before = env.state_dict()
    with pytest.raises(UsageError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})
    assert_same(env.state_dict(), before)


def test_options_that_mean_nothing() -> None:
    env = vector("toywalk", 3)
    with pytest.raises(UsageError, match="before the first full one"):
        env.reset(options={"reset_mask": [True, False, True]})
    with pytest.raises(UsageError, match="did you mean 'reset_mask'"):
        env.reset(options={"resetmask": [True, False, True]})
    with pytest.raises(UsageError, match="not a mapping"):
        env.reset(options=[True, False, True])  # type: ignore[arg-type]  # no dict is the test
    env.reset(options={})
    env.reset(options={"reset_mask": None})
    observation, info = env.reset(options={"reset_mask": [True] * 3})
    assert "_distance" not in info
    assert observation.shape == (3, 2)


# --- step ---------------------------------------------------------------------------------------------------


def test_step_needs_a_reset() -> None:
    env = vector()
    for call in (lambda: env.step([0] * 4), lambda: env.state, lambda: env.dump_states()):
        with pytest.raises(gym.error.ResetNeeded):
            call()


def test_disabled_refuses_to_step_an_ended_row() -> None:
    env = vector(autoreset_mode="disabled", max_episode_steps=1)
    env.reset(seed=0)
    env.step([0] * 4)
    before = env.state_dict()
    with pytest.raises(gym.error.ResetNeeded, match=r"rows \[0, 1, 2, 3\] have ended"):
        env.step([0] * 4)
    assert_same(env.state_dict(), before)


def test_wall_time_counts_from_the_reset() -> None:
    env = vector("counter", 2, autoreset_mode="same_step", max_episode_steps=1)
    env.reset(seed=0)
    for _ in range(2):
        times = env.step([0, 0])[4]["episode"]["t"]
        assert times.dtype == torch.float64
        assert ((times > 0) & (times < 60)).all()


def test_a_step_under_inference_mode_is_an_ordinary_one() -> None:
    env, plain = vector("glider", 3), vector("glider", 3)
    with torch.inference_mode():
        env.reset(seed=1)
        out = env.step(torch.tensor([[0.5, 0.5]] * 3))
    plain.reset(seed=1)
    assert_same(timeless(out[4]), timeless(plain.step(torch.tensor([[0.5, 0.5]] * 3))[4]))
    for _, leaf in leaves((out, tuple(env.state))):
        assert not leaf.is_inference()
    with torch.inference_mode():
        action = torch.tensor([[0.25, 0.5]] * 3)
    assert_same(env.step(action)[0], plain.step(action)[0])


def test_no_gradient_is_kept_by_the_face() -> None:
    env = vector("glider", 2)
    env.reset(seed=0)
    out = env.step(torch.zeros(2, 2, requires_grad=True))
    assert not any(leaf.requires_grad for _, leaf in leaves((out, tuple(env.state))))


@pytest.mark.parametrize("mode", MODES)
def test_global_generators_and_settings_are_left_alone(mode: str) -> None:
    torch.manual_seed(3)
    np.random.seed(3)
    random.seed(3)

    def settings() -> tuple[Any, ...]:
        return (torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate(),
                torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads())  # fmt: skip

    before = settings()
    env = vector("forager", 3, autoreset_mode=mode, max_episode_steps=4)
    env.reset()
    play(env, 6)
    env.reset(seed=1)
    env.fork([0, 1]).close()
    assert settings() == before


def test_a_default_dtype_of_doubles_changes_nothing() -> None:
    envs = [vector("forager", 3, max_episode_steps=6) for _ in range(2)]
    envs[0].reset(seed=2)
    wanted = play(envs[0], 9)
    try:
        torch.set_default_dtype(torch.float64)
        envs[1].reset(seed=2)
        found = play(envs[1], 9)
    finally:
        torch.set_default_dtype(torch.float32)
    assert_same(found, wanted)


# --- names --------------------------------------------------------------------------------------------------


def test_call_get_attr_and_set_attr_go_by_rows() -> None:
    env = vector("counter", 3, params={"goal": [5, 6, 7]}, render_mode="ansi")
    env.reset(seed=0)
    assert env.get_attr("goal") == env.call("goal") == (5, 6, 7)
    assert env.get_attr("num_envs") == (3, 3, 3)
    assert env.get_attr("render_mode") == ("ansi",) * 3
    assert len(env.call("render")) == 3
    assert env.get_attr("np_random_seed") == (0, 1, 2)
    env.set_attr("goal", 2)
    assert env.get_attr("goal") == (2, 2, 2)
    env.set_attr("goal", [1, 2, 3])
    assert env.step([0, 0, 0])[2].tolist() == [True, False, False]
    env.set_attr("render_mode", None)
    assert env.render() is None


def test_parameters_change_from_the_next_step_on() -> None:
    env = vector("toywalk", 64, params={"slip": 0.0})
    env.reset(seed=0)
    before = env.state.env.position
    env.set_attr("slip", [1.0] * 32 + [0.0] * 32)
    env.step([1] * 64)
    moved = env.state.env.position - before
    assert (moved[:32] <= 0).all()
    assert (moved[32:] == 1).all()


@pytest.mark.parametrize("form", [False, "native"])
def test_a_restart_plays_the_same_episode_again_with_the_parameters_of_now(form: bool | str) -> None:
    env = vector("toywalk", 3, compile=form, params={"slip": 0.0})
    first, _ = env.reset(seed=5)
    for _ in range(3):
        env.step([0, 0, 0])
    before = env.state
    env.set_attr("slip", [1.0, 1.0, 0.0])
    seen, info = env.restart(torch.tensor([True, False, True]))
    after = env.state
    assert after.t.tolist() == [0, 3, 0]
    assert_same(seen[[0, 2]], first[[0, 2]])
    assert_same((after.seed, after.episode), (before.seed, before.episode))
    assert after.returns.tolist() == [0.0, -3.0, 0.0]
    assert after.env.position[1] == before.env.position[1]
    assert "_distance" not in info
    other = vector("toywalk", 3, compile=form, params={"slip": [1.0, 1.0, 0.0]})
    other.reset(seed=5)
    for _ in range(8):
        assert_same(rows(advance(env, [0, 0, 0])[:4], [0, 2]), rows(advance(other, [0, 0, 0])[:4], [0, 2]))


def test_what_cannot_be_restarted() -> None:
    env = vector("toywalk", 3)
    with pytest.raises(gym.error.ResetNeeded):
        env.restart(torch.tensor([True, True, True]))
    env.reset(seed=1)
    for rows_of_it in (torch.zeros(3, dtype=torch.bool), torch.ones(2, dtype=torch.bool), torch.tensor([1, 0, 1])):
        with pytest.raises(UsageError, match="reset_mask"):
            env.restart(rows_of_it)


@pytest.mark.parametrize(
    ("name", "values", "kind", "words"),
    [
        ("goal", [1, 2], ValueError, "list of 3"),
        ("goal", 0, ValueError, "goal"),
        ("goal", "x", ValueError, "goal"),
        ("gaol", 3, AttributeError, "did you mean 'goal'"),
        ("_state", None, AttributeError, "_state"),
        ("render_mode", ["ansi", None, None], ValueError, "one attribute of the whole batch"),
    ],
)
def test_what_cannot_be_set(name: str, values: Any, kind: type[Exception], words: str) -> None:
    env = vector("counter", 3)
    with pytest.raises(kind, match=words):
        env.set_attr(name, values)


def test_what_cannot_be_read() -> None:
    env = vector("counter", 3)
    for name in ("nothing", "_state", "__dict__"):
        with pytest.raises(AttributeError, match=r"nothing|_state|__dict__"):
            env.get_attr(name)


# --- closing ------------------------------------------------------------------------------------------------


def test_close_twice_and_use_afterwards() -> None:
    env = vector("counter", 2, render_mode="ansi")
    env.reset(seed=0)
    env.close()
    env.close()
    assert env.closed
    for call in (
        lambda: env.step([0, 0]),
        lambda: env.reset(),
        lambda: env.reset(seed=1),
        lambda: env.render(),
        lambda: env.state_dict(),
        lambda: env.load_state_dict({}),
        lambda: env.fork([0]),
        lambda: env.load_states([{}, {}]),
    ):
        with pytest.raises(ClosedError, match="was closed"):
            call()
    assert env.np_random_seed == (0, 1)


def test_close_through_wrappers_and_by_the_collector() -> None:
    env = gym.wrappers.vector.TransformReward(
        gym.wrappers.vector.RecordEpisodeStatistics(vector("counter", 2, output="numpy")), lambda reward: reward
    )
    env.reset(seed=0)
    env.close()
    env.close()
    assert env.unwrapped.closed
    gone = vector("counter", 2)
    gone.reset(seed=0)
    watched = weakref.ref(gone)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del gone
        gc.collect()
    assert watched() is None


def test_two_envs_in_one_process_are_strangers() -> None:
    alone_a, alone_b = vector("forager", 3, max_episode_steps=5), vector("forager", 5, max_episode_steps=5)
    alone_a.reset(seed=1)
    alone_b.reset(seed=1)
    wanted_a, wanted_b = play(alone_a, 12), play(alone_b, 12)
    a, b = vector("forager", 3, max_episode_steps=5), vector("forager", 5, max_episode_steps=5)
    a.reset(seed=1)
    b.reset(seed=1)
    actor_a, actor_b = Actor(a), Actor(b)
    for step in range(12):
        assert_same(clone(advance(a, actor_a())), wanted_a[step])
        assert_same(clone(advance(b, actor_b())), wanted_b[step])
