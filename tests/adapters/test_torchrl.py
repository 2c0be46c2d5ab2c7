"""The adapter as TorchRL's own checks, rollouts, collectors and transforms see it."""

# ruff: noqa: E402 -- what needs the library is imported after asking for it

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch

with warnings.catch_warnings():  # the library warns of its own classes while it is imported
    warnings.simplefilter("ignore")
    pytest.importorskip("torchrl.collectors")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:split_trajs=True:UserWarning"),
]

from tensordict import TensorDict
from torchrl.collectors import Collector
from torchrl.data import Bounded, Categorical, MultiCategorical, OneHot
from torchrl.envs import ActionMask, RewardSum, SerialEnv, StepCounter, TransformedEnv
from torchrl.envs.utils import check_env_specs
from torchrl.modules import ValueOperator
from torchrl.objectives.value import GAE
from torchrl.record import PixelRenderTransform

import simulacrum
from simulacrum.adapters.torchrl import TorchRLEnv, make_torchrl
from simulacrum.contract.package import load_package
from simulacrum.errors import ActionError, ClosedError, GateError, StateError, UsageError

LIMIT = 7  # counter's time limit
KIT = Path(__file__).parents[1] / "kit"
Vector = Callable[..., Any]


@pytest.fixture
def make(vector: Vector) -> Callable[..., TorchRLEnv]:
    def build(num_envs: int = 3, *, categorical: bool = True, metrics: bool = False, **kwargs: Any) -> TorchRLEnv:
        env = vector(num_envs, **{"autoreset_mode": "disabled", **kwargs})
        return TorchRLEnv(env, categorical_action_encoding=categorical, metrics=metrics)

    return build


# --- the door ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(vector: Vector, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        TorchRLEnv(vector(autoreset_mode=mode))
    assert "disabled" in str(caught.value)


@pytest.mark.parametrize("given", [{"output": "numpy"}, {"double_buffer": True}])
def test_arrays_and_a_double_buffer_are_refused(vector: Vector, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        TorchRLEnv(vector(autoreset_mode="disabled", **given))


def test_other_vector_envs_and_wrapped_ones_are_refused(vector: Vector) -> None:
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        TorchRLEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="RecordEpisodeStatistics"):
        TorchRLEnv(gym.wrappers.vector.RecordEpisodeStatistics(vector(autoreset_mode="disabled")))


@pytest.mark.parametrize("name", ["autoreset_mode", "output", "vectorization_mode"])
def test_make_torchrl_decides_modes_itself(name: str) -> None:
    with pytest.raises(UsageError, match=f"make_torchrl decides {name} itself"):
        make_torchrl("simulacrum/forager-v0", 2, **{name: "next_step"})


def test_make_torchrl_goes_through_the_gate(counter: Any) -> None:
    simulacrum.register_envs(counter.folder)
    try:
        with pytest.raises(GateError, match="counter"):
            make_torchrl("simulacrum/counter-v0", 2)
    finally:
        del gym.registry["simulacrum/counter-v0"]


# --- specs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [False, "native"], ids=["eager", "native"])
@pytest.mark.parametrize("categorical", [True, False], ids=["integers", "one-hot"])
@pytest.mark.parametrize("name", ["counter", "dials", "glider", "canvas", "rivals"])
def test_torchrl_finds_the_specs_true(
    make: Callable[..., TorchRLEnv], name: str, categorical: bool, form: bool | str
) -> None:
    env = make(3, package=load_package(KIT / name), categorical=categorical, metrics=True, compile=form)
    check_env_specs(env, seed=5)
    rollout = env.rollout(30, break_when_any_done=False)
    assert rollout.shape == (3, 30)
    assert all(env.observation_spec.is_in(step) for step in rollout.select(*env.observation_spec.keys()).unbind(1))


def test_specs_say_what_the_spaces_say(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3)
    assert env.batch_size == (3,)
    assert isinstance(env.action_spec, Categorical)
    assert env.action_spec.n == 2
    assert isinstance(make(3, categorical=False).action_spec, OneHot)
    assert isinstance(env.observation_spec["observation"], Bounded)
    assert env.observation_spec["observation"].shape == (3, 2)
    assert float(env.observation_spec["observation"].space.high.max()) == 2000
    assert env.observation_spec["action_mask"].dtype == torch.bool
    assert set(env.done_keys) == {"done", "terminated", "truncated"}
    dials = make(3, package=load_package(KIT / "dials"))
    assert isinstance(dials.action_spec, MultiCategorical)
    assert list(dials.action_spec.nvec[0]) == [2, 3]
    glider = make(3, package=load_package(KIT / "glider"))
    assert {"position", "fuel", "quadrant", "low"} <= set(glider.observation_spec.keys())
    assert "info" not in env.observation_spec
    assert set(make(3, metrics=True).observation_spec["info"].keys()) == {"count", "success"}


def test_one_hot_actions_and_integers_are_the_same_actions(make: Callable[..., TorchRLEnv]) -> None:
    for name in ("dials", "canvas"):
        whole, hot = (make(4, package=load_package(KIT / name), categorical=encoding) for encoding in (True, False))
        for env in (whole, hot):
            env.set_seed(3)
        first, second = whole.reset(), hot.reset()
        torch.manual_seed(1)
        for _ in range(8):
            spec, hot_spec = whole.full_action_spec["action"], hot.full_action_spec["action"]
            action = whole.rand_action(first)["action"]
            step, first = whole.step_and_maybe_reset(first)
            hot_step, second = hot.step_and_maybe_reset(second.set("action", _encoded(action, spec, hot_spec)))
            assert (step["next"] == hot_step["next"]).all()


def _encoded(action: Any, spec: Any, hot: Any) -> Any:
    if isinstance(action, TensorDict):
        parts = {key: _encoded(value, spec[key], hot[key]) for key, value in action.items()}
        return TensorDict(parts, action.batch_size)
    if isinstance(spec, MultiCategorical):
        counts = [int(count) for count in spec.nvec[0]]
        parts = [torch.nn.functional.one_hot(one, count) for one, count in zip(action.unbind(-1), counts, strict=True)]
        return torch.cat(parts, -1).bool()
    return torch.nn.functional.one_hot(action, spec.n).bool() if isinstance(spec, Categorical) else action


def test_a_space_that_begins_elsewhere_is_counted_from_zero(make: Callable[..., TorchRLEnv]) -> None:
    env = make(2, package=load_package(KIT / "canvas"))
    assert env.env.single_action_space["cell"].start == -1
    data = env.reset()
    action = env.full_action_spec["action"].zero()
    data.set("action", action)
    mine = env.step(data)["next", "observation"]
    other = make(2, package=load_package(KIT / "canvas"))
    other.env.reset(seed=list(env.env.np_random_seed))
    theirs, *_ = other.env.step({**action.to_dict(), "cell": action["cell"] - 1})
    assert torch.equal(mine, theirs)


# --- episodes ---------------------------------------------------------------------------------------------


def test_a_collector_keeps_the_true_last_observation_of_every_episode(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3, params={"goal": [1000, 3, 1]})  # ends at 7, at 3, and in every step
    collector = Collector(env, None, frames_per_batch=60, total_frames=240, split_trajs=False)
    data = torch.cat([batch.clone() for batch in collector], 1)
    collector.shutdown()
    assert data.shape == (3, 80)
    for row, length in enumerate((LIMIT, 3, 1)):
        at = data[row]
        seen, following = at["observation"][:, 0], at["next", "observation"][:, 0]
        marks, marks_after = at["observation"][:, 1], at["next", "observation"][:, 1]
        ended = at["next", "done"][:, 0]
        assert seen.tolist() == [step % length for step in range(80)]  # the first observation of each is 0
        assert torch.equal(following, seen + 1)
        assert torch.equal(marks, marks_after)  # "next" is still of the same episode
        assert following[ended].tolist() == [length] * (80 // length)  # the last one carries its true last counter
        starts = marks[1:][ended[:-1]]
        assert (starts != marks[:-1][ended[:-1]]).all()  # the next row of the batch begins another one
        assert torch.equal(at["next", "truncated"][:, 0], ended if length == LIMIT else torch.zeros_like(ended))
        assert torch.equal(at["next", "terminated"][:, 0], torch.zeros_like(ended) if length == LIMIT else ended)
        assert not at["done"].any()


def test_case_b07_both_flags_are_both_shown(make: Callable[..., TorchRLEnv]) -> None:
    last = make(2, params={"goal": LIMIT}).rollout(20)[:, -1]["next"]
    assert last["terminated"].all()
    assert last["truncated"].all()
    assert last["done"].all()


def test_gae_bootstraps_what_was_cut_off_and_nothing_else(make: Callable[..., TorchRLEnv]) -> None:
    torch.manual_seed(1)
    value = ValueOperator(torch.nn.Linear(2, 1), in_keys=["observation"])
    data = make(2, params={"goal": [1000, LIMIT]}).rollout(3 * LIMIT, break_when_any_done=False)
    with torch.no_grad():
        GAE(gamma=0.5, lmbda=0.0, value_network=value)(data)
        worth = value.module(data["next", "observation"])
    ended = data["next", "done"]
    assert ended.sum().item() == 2 * 3
    wanted = 1 + 0.5 * worth
    wanted[1][ended[1]] = 1  # this row's episodes are terminated
    torch.testing.assert_close(data["value_target"], wanted)


def test_a_mask_resets_its_rows_and_no_other(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3)
    data = env.rollout(4)[:, -1]["next"]
    mask = torch.tensor([[False], [True], [False]])
    again = env.reset(data.clone().set("_reset", mask))
    assert again["observation"][:, 0].tolist() == [4, 0, 4]
    assert again["observation"][[0, 2]].tolist() == data["observation"][[0, 2]].tolist()
    assert again["observation"][1, 1] != data["observation"][1, 1]


def test_a_row_that_ended_and_was_not_reset_stays_done(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3, params={"goal": [2, 1000, 2]})
    data = env.rollout(9)[:, -1]["next"]
    assert data["done"][:, 0].tolist() == [True, False, True]
    fresh = env._reset(TensorDict({"_reset": torch.tensor([[True], [True], [False]])}, [3]))
    assert fresh["done"][:, 0].tolist() == [False, False, True]
    assert fresh["terminated"][:, 0].tolist() == [False, False, True]
    with pytest.raises(gym.error.ResetNeeded):
        env.rand_step(fresh)


def test_transforms_of_the_library_count_as_the_env_does(make: Callable[..., TorchRLEnv]) -> None:
    env = TransformedEnv(make(3, params={"goal": [1000, 3, 1000]}))
    env.append_transform(StepCounter())
    env.append_transform(RewardSum())
    rollout = env.rollout(15, break_when_any_done=False)
    counts = rollout["next", "observation"][..., 0]
    assert torch.equal(rollout["next", "step_count"][..., 0].float(), counts)
    assert torch.equal(rollout["next", "episode_reward"][..., 0], counts)


def test_action_mask_of_the_library_keeps_random_actions_legal(make: Callable[..., TorchRLEnv]) -> None:
    torch.manual_seed(0)
    bare = make(64).rollout(14, break_when_any_done=False)
    env = TransformedEnv(make(64), ActionMask())
    masked = env.rollout(14, break_when_any_done=False)
    counts = masked["observation"][..., 0]
    assert torch.equal(masked["action_mask"], torch.stack([torch.ones_like(counts), counts < 3], -1).bool())
    assert masked["action"][counts < 3].any()
    assert not masked["action"][counts >= 3].any()
    assert bare["action"][bare["observation"][..., 0] >= 3].any()
    dials = TransformedEnv(make(3, package=load_package(KIT / "dials")), ActionMask())
    assert dials.rollout(4, break_when_any_done=False)["action_mask"].shape == (3, 4, 5)


# --- types and memory -------------------------------------------------------------------------------------


def test_what_a_step_returns_is_the_engines_own_memory(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3)
    given: list[Any] = []
    inner = env.env.step
    # The inner env's step, which keeps what it takes and gives.
    env.env.step = lambda action: given.append((action, inner(action))) or given[-1][1]  # type: ignore[method-assign]
    data = env.rand_action(env.reset())
    following = env.step(data)["next"]
    action, (observation, reward, terminated, truncated, info) = given[0]
    assert action.data_ptr() == data["action"].data_ptr()
    pairs = [(observation, "observation"), (reward, "reward"), (terminated, "terminated"), (truncated, "truncated")]
    for tensor, key in [*pairs, (info["action_mask"], "action_mask")]:
        assert following[key].data_ptr() == tensor.data_ptr(), key


def test_what_was_returned_is_never_overwritten(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3)
    data = env.reset()
    kept, copies = [data.clone(recurse=False)], [data.clone()]
    for _ in range(3 * LIMIT):
        step, data = env.step_and_maybe_reset(env.rand_action(data))
        kept += [step, data.clone(recurse=False)]
        copies += [step.clone(), data.clone()]
    assert all((one == other).all() for one, other in zip(kept, copies, strict=True))


def test_editing_everything_returned_changes_nothing_later(make: Callable[..., TorchRLEnv]) -> None:
    runs = []
    for spoil in (False, True):
        env = make(3)
        env.set_seed(11)
        data, seen = env.reset(), []
        for _ in range(3 * LIMIT):
            data = env.step(data.set("action", torch.zeros(3, dtype=torch.int64)))
            following = data["next"].clone()
            seen.append(following.clone())
            if spoil:
                for tensor in data.values(True, True):
                    tensor.fill_(1)
            data = env.maybe_reset(following.exclude("reward"))
        runs.append(torch.stack(seen))
    assert (runs[0] == runs[1]).all()


# --- seeds and state --------------------------------------------------------------------------------------


def test_a_seed_counts_once_and_a_reset_goes_on(make: Callable[..., TorchRLEnv]) -> None:
    env = make(3)
    assert env.set_seed(11) != 11  # TorchRL returns the seed for a next environment
    first = env.reset()
    second = env.reset()
    assert env.env.np_random_seed == (11, 12, 13)
    env.set_seed(11)
    assert (env.reset() == first).all()
    assert not (second["observation"] == first["observation"]).all()
    assert (env.reset(seed=11) == first).all()


def test_a_seed_waits_for_a_reset_of_all_rows(make: Callable[..., TorchRLEnv]) -> None:
    env = make(2)
    data = env.rollout(1)[:, 0]["next"]
    env.set_seed(4)
    env.reset(data.set("_reset", torch.tensor([[True], [False]])))
    assert env.env.np_random_seed != (4, 5)
    env.reset()
    assert env.env.np_random_seed == (4, 5)


def go_on(env: TorchRLEnv, data: Any, steps: int) -> TensorDict:
    """Steps `[steps, N]` from `data` on, always with the first action."""
    taken = []
    for _ in range(steps):
        step, data = env.step_and_maybe_reset(data.set("action", env.action_spec.zero()))
        taken.append(step)
    return torch.stack(taken)


def test_rows_do_not_depend_on_their_number(make: Callable[..., TorchRLEnv]) -> None:
    few, many = make(2, params={"spread": 1}), make(5, params={"spread": 1})
    few.set_seed(2)
    many.set_seed(2)
    assert (go_on(few, few.reset(), 20) == go_on(many, many.reset(), 20)[:, :2]).all()


@pytest.mark.parametrize("form", [False, "native"], ids=["eager", "native"])
def test_a_saved_state_goes_on_to_the_bit(make: Callable[..., TorchRLEnv], form: bool | str, tmp_path: Path) -> None:
    env = make(3, params={"spread": 1}, compile=form)
    data = env.rollout(4)[:, -1]["next"].exclude("reward")
    torch.save(env.state_dict(), tmp_path / "state.pt")
    other = make(3, params={"spread": 1}, compile=form)
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert (go_on(env, data.clone(), 2 * LIMIT) == go_on(other, data.clone(), 2 * LIMIT)).all()
    with pytest.raises(StateError):
        make(2).load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))


# --- the rest ---------------------------------------------------------------------------------------------


def test_bad_actions_and_closed_envs_raise(make: Callable[..., TorchRLEnv]) -> None:
    env = make(2)
    data = env.reset()
    with pytest.raises(ActionError, match="row 1"):
        env.step(data.set("action", torch.tensor([0, 2])))
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.reset()


def test_rows_stay_where_they_are(make: Callable[..., TorchRLEnv]) -> None:
    env = make(2)
    assert env.to("cpu") is env
    with pytest.raises(UsageError, match="device='cuda'"):
        env.to("cuda")


def test_images_are_stacked(make: Callable[..., TorchRLEnv]) -> None:
    env = TransformedEnv(make(3, render_mode="rgb_array"), PixelRenderTransform())
    pixels = env.rollout(4)["next", "pixels"]
    assert pixels.shape == (3, 4, 16, 16, 3)
    assert pixels.dtype == torch.uint8
    assert pixels[:, :, 0, 0, 0].tolist() == [[1, 2, 3, 4]] * 3  # counter draws its count as a grey
    with pytest.raises(UsageError, match="render_mode"):
        make(2).render()


def test_several_batches_make_one_batch_of_the_library(make: Callable[..., TorchRLEnv]) -> None:
    env = SerialEnv(2, lambda: make(3, params={"goal": [5, 1000, 2]}))
    env.set_seed(0)
    seen = env.rollout(15, break_when_any_done=False)["observation"]
    assert seen.shape == (2, 3, 15, 2)
    assert seen[..., 0].tolist() == [[[step % length for step in range(15)] for length in (5, LIMIT, 2)]] * 2
    assert not torch.equal(seen[0, ..., 1], seen[1, ..., 1])  # the second batch has other seeds
    env.close()


def test_a_grouped_collection_splits_whole_episodes(make: Callable[..., TorchRLEnv]) -> None:
    collector = Collector(make(4), None, frames_per_batch=4 * 14, total_frames=4 * 14, split_trajs=True)
    (data,) = list(collector)
    collector.shutdown()
    assert data.shape == (8, LIMIT)
    assert data["collector", "mask"].all()
    for episode in data:
        counts = episode["observation"][:, 0].tolist()
        assert counts[0] == 0
        assert all(after == before + 1 for before, after in itertools.pairwise(counts))


def test_nothing_of_this_file_left_a_report(counter: Any) -> None:
    assert not (Path(counter.folder) / "validation_report.json").exists()
