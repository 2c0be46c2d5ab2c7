"""The adapter as rsl_rl sees it: rollouts under inference mode, moved clocks, time-outs, and its own runner."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch

pytest.importorskip("rsl_rl")

from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

import simulacrum
from simulacrum.adapters.rsl_rl import RslRlEnv, make_rsl_rl
from simulacrum.contract.package import load_package
from simulacrum.errors import ActionError, ClosedError, GateError, UsageError

AIM = Path(__file__).parents[1] / "training" / "data" / "aim"  # time limit 5, one target an episode
GLIDER = Path(__file__).parents[1] / "kit" / "glider"  # Dict observations, terminates
FORMS = pytest.mark.parametrize("form", [False, "native"], ids=["eager", "native"])
Make = Callable[..., RslRlEnv]


@pytest.fixture
def make(vector: Callable[..., Any]) -> Make:
    def build(num_envs: int = 4, *, package: Path = AIM, seed: int | None = 3, **kwargs: Any) -> RslRlEnv:
        return RslRlEnv(vector(num_envs, package=load_package(package), **kwargs), seed=seed)

    return build


def zeros(env: RslRlEnv) -> torch.Tensor:
    return torch.zeros((env.num_envs, env.num_actions))


# --- the door ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_a_mode_that_cannot_be_served_is_refused_by_name(make: Make, mode: str) -> None:
    with pytest.raises(UsageError, match=f"autoreset_mode='{mode}'") as caught:
        make(autoreset_mode=mode)
    assert "same_step" in str(caught.value)


def test_numpy_output_and_other_vector_envs_are_refused(make: Make, vector: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="output='numpy'"):
        make(output="numpy")
    with pytest.raises(UsageError, match="CartPoleVectorEnv"):
        RslRlEnv(gym.make_vec("CartPole-v1", 2))
    with pytest.raises(UsageError, match="RecordEpisodeStatistics"):
        RslRlEnv(gym.wrappers.vector.RecordEpisodeStatistics(vector(package=load_package(AIM))))


def test_discrete_actions_and_endless_episodes_are_refused(make: Make, vector: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="continuous") as caught:
        RslRlEnv(vector())
    assert "Discrete(2)" in str(caught.value)
    with pytest.raises(UsageError, match="max_episode_steps=None"):
        make(max_episode_steps=None)


def test_make_rsl_rl_decides_modes_and_goes_through_the_gate() -> None:
    with pytest.raises(UsageError, match="make_rsl_rl decides output itself"):
        make_rsl_rl("simulacrum/forager-v0", 2, output="numpy")
    simulacrum.register_envs(AIM)
    try:
        with pytest.raises(GateError, match="aim"):
            make_rsl_rl("simulacrum/aim-v0", 2)
    finally:
        del gym.registry["simulacrum/aim-v0"]


# --- steps ------------------------------------------------------------------------------------------------


def test_what_rsl_rl_reads(make: Make) -> None:
    env = make(4)
    assert (env.num_envs, env.num_actions, env.max_episode_length) == (4, 1, 5)
    assert env.device == torch.device("cpu")
    assert env.cfg["env_id"] == "simulacrum/aim-v0"
    assert env.env.np_random_seed == (3, 4, 5, 6)
    observations = env.get_observations()
    assert isinstance(observations, TensorDict)
    assert observations.batch_size == (4,)
    assert observations["policy"].shape == (4, 1)
    observations, rewards, dones, extras = env.step(zeros(env))
    assert (observations["policy"].dtype, observations["policy"].shape) == (torch.float32, (4, 1))
    assert (rewards.dtype, rewards.shape) == (torch.float32, (4,))
    assert (dones.dtype, dones.shape) == (torch.bool, (4,))
    assert (extras["time_outs"].dtype, extras["time_outs"].shape) == (torch.bool, (4,))


def test_a_dict_space_gives_groups_of_floats(make: Make) -> None:
    env = make(4, package=GLIDER)
    observations, *_ = env.step(torch.ones(4, 2))
    shapes = {name: (value.dtype, tuple(value.shape)) for name, value in observations.items()}
    assert shapes == {
        "position": (torch.float32, (4, 2)),
        "fuel": (torch.float32, (4, 1)),
        "quadrant": (torch.float32, (4, 1)),
        "low": (torch.float32, (4, 1)),
    }


def test_floats_are_not_copied_on_the_way(make: Make) -> None:
    env = make(4)
    given: list[Any] = []
    inner = env.env.step
    # The inner env's step, which keeps what it gives.
    env.env.step = lambda action: given.append(inner(action)) or given[-1]  # type: ignore[method-assign]
    observations, rewards, *_ = env.step(zeros(env))
    assert observations["policy"].data_ptr() == given[0][0].data_ptr()
    assert rewards.data_ptr() == given[0][1].data_ptr()


def test_actions_are_clipped_to_the_space_and_left_alone(make: Make) -> None:
    env, same = make(3), make(3)
    actions = torch.tensor([[9.0], [-9.0], [0.5]])
    _, rewards, *_ = env.step(actions)
    assert actions.flatten().tolist() == [9, -9, 0.5]
    assert torch.equal(rewards, same.step(torch.tensor([[2.0], [-2.0], [0.5]]))[1])
    with pytest.raises(ActionError, match="row 1"):
        env.step(torch.tensor([[0.0], [float("nan")], [0.0]]))
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.step(actions)


def test_only_what_was_cut_off_is_a_time_out(make: Make) -> None:
    env = make(64, package=GLIDER)
    seen = {"cut off": 0, "terminated": 0, "both": 0}
    other = make(64, package=GLIDER)
    for _ in range(60):
        actions = torch.linspace(0, 1, 64)[:, None].expand(64, 2)  # the last rows run out of fuel first
        _, _, dones, extras = env.step(actions)
        _, _, terminated, truncated, _ = other.env.step(actions)
        assert torch.equal(dones, terminated | truncated)
        assert torch.equal(extras["time_outs"], truncated & ~terminated)
        seen["cut off"] += int(extras["time_outs"].sum())
        seen["terminated"] += int(terminated.sum())
        seen["both"] += int((terminated & truncated).sum())
    assert all(seen.values()), seen


def test_the_observation_at_an_end_is_the_first_of_the_next_episode(make: Make) -> None:
    env = make(4)
    for number in range(1, 16):
        before = env.get_observations()["policy"]
        observations, _, dones, extras = env.step(zeros(env))
        assert dones.tolist() == [number % 5 == 0] * 4
        assert torch.equal(extras["time_outs"], dones)
        assert torch.equal(observations["policy"] == before, ~dones[:, None])
        assert env.episode_length_buf.tolist() == [number % 5] * 4


def test_task_metrics_of_ended_episodes_are_logged(vector: Callable[..., Any], make: Make) -> None:
    env = make(2)
    for _ in range(5):
        *_, extras = env.step(zeros(env))
    assert "log" not in extras  # aim has no metrics
    counter = vector(3, params={"goal": [2, 1000, 2]})
    counter.single_action_space = gym.spaces.Box(0, 1, (1,))  # stands in for a continuous environment with metrics
    env, inner = RslRlEnv(counter), counter.step
    counter.step = lambda actions: inner(actions[:, 0].long())
    logged = [env.step(zeros(env))[3].get("log") for _ in range(2)]
    assert logged[0] is None
    assert {name: value.tolist() for name, value in logged[1].items()} == {"/count": [2, 2], "/success": [1, 1]}


# --- clocks -----------------------------------------------------------------------------------------------


@FORMS
def test_the_clocks_can_be_moved(make: Make, form: bool | str) -> None:
    env = make(4, compile=form)
    assert env.episode_length_buf.dtype == torch.int64
    assert env.episode_length_buf.tolist() == [0, 0, 0, 0]
    targets = env.get_observations()["policy"].clone()
    env.episode_length_buf = torch.tensor([0, 1, 3, 4])
    assert env.episode_length_buf.tolist() == [0, 1, 3, 4]
    assert torch.equal(env.get_observations()["policy"], targets)  # nothing else has moved
    ended = [env.step(zeros(env))[2].tolist() for _ in range(5)]
    assert ended == [
        [False, False, False, True],
        [False, False, True, False],
        [False, False, False, False],
        [False, True, False, False],
        [True, False, False, False],
    ]
    env.episode_length_buf[:] = 0  # a copy: writing into it moves nothing
    assert env.episode_length_buf.tolist() == [0, 1, 3, 4]


def test_clocks_that_no_row_can_have_are_refused(make: Make) -> None:
    env = make(3)
    for wrong in (torch.tensor([0, 1]), torch.tensor([0, 1, 5]), torch.tensor([-1, 0, 0]), torch.tensor([0.0, 1, 2])):
        with pytest.raises(UsageError, match="0 to 4"):
            env.episode_length_buf = wrong
    assert env.episode_length_buf.tolist() == [0, 0, 0]


# --- memory and inference mode ----------------------------------------------------------------------------


@FORMS
def test_the_rows_survive_inference_mode(make: Make, form: bool | str) -> None:
    """Tensors made under inference mode cannot be written outside of it: none of the state may be one."""
    env, other = make(4, compile=form), make(4, compile=form)
    with torch.inference_mode():
        env.episode_length_buf = torch.tensor([0, 1, 2, 3])
        for _ in range(7):
            observations, rewards, *_ = env.step(zeros(env))
    other.episode_length_buf = torch.tensor([0, 1, 2, 3])
    for _ in range(7):
        other.step(zeros(other))
    assert not observations["policy"].is_inference()
    assert not rewards.is_inference()
    observations["policy"].add_(1)  # refused by torch if it were one
    weight = torch.ones(1, 1, requires_grad=True)
    (observations["policy"] @ weight).sum().backward()
    assert weight.grad is not None
    for step in range(7):
        mine, theirs = env.step(zeros(env)), other.step(zeros(other))
        assert torch.equal(mine[0]["policy"], theirs[0]["policy"]), step
        assert torch.equal(mine[2], theirs[2])
    assert env.env.state_dict()["clock"]["t"].tolist() == other.env.state_dict()["clock"]["t"].tolist()
    env.env.load_state_dict(other.env.state_dict())
    env.env.reset()


@FORMS
def test_editing_everything_returned_changes_nothing_later(make: Make, form: bool | str) -> None:
    clean, spoiled = make(3, compile=form), make(3, compile=form)
    spoiled.get_observations()["policy"].fill_(9)
    for _ in range(12):
        assert torch.equal(clean.get_observations()["policy"], spoiled.get_observations()["policy"])
        a, b = clean.step(zeros(clean)), spoiled.step(zeros(spoiled))
        assert torch.equal(a[0]["policy"], b[0]["policy"])
        assert torch.equal(a[1], b[1])
        assert torch.equal(a[2], b[2])
        b[0]["policy"].fill_(9)
        b[1].fill_(9)
        b[2].fill_(True)
        b[3]["time_outs"].fill_(True)


# --- the runner -------------------------------------------------------------------------------------------


def config(groups: list[str], steps: int = 10, **algorithm: Any) -> dict[str, Any]:
    net = {"class_name": "MLPModel", "hidden_dims": [16], "activation": "elu"}
    return {
        "num_steps_per_env": steps,
        "save_interval": 100,
        "obs_groups": {"actor": groups, "critic": groups},
        "actor": {**net, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}},
        "critic": dict(net),
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 2, "num_mini_batches": 2, **algorithm},
    }


def test_the_runner_learns_to_aim(make: Make, tmp_path: Path) -> None:
    torch.manual_seed(1)
    env = make(64)
    runner = OnPolicyRunner(env, config(["policy"], learning_rate=3e-3, schedule="fixed"), str(tmp_path))
    runner.learn(30, init_at_random_ep_len=True)
    assert len(set(env.episode_length_buf.tolist())) == 5  # the random clocks hold: rows end apart
    rewards = list(runner.logger.rewbuffer)
    assert sum(rewards[-20:]) > 0.5 * sum(_untrained(make))
    assert (tmp_path / "model_29.pt").exists()
    policy = runner.get_inference_policy()
    with torch.no_grad():
        miss = (policy(env.get_observations()) - env.get_observations()["policy"]).abs().mean()
    assert miss < 0.2


def _untrained(make: Make) -> list[float]:
    env = make(20)
    torch.manual_seed(2)
    # A tensor, since there are five of them; of none it would be the number 0.
    return sum(env.step(torch.randn(20, 1))[1] for _ in range(5)).tolist()  # type: ignore[union-attr]


def test_the_runner_trains_on_groups_with_terminations(make: Make) -> None:
    env = make(8, package=GLIDER)
    runner = OnPolicyRunner(env, config(["position", "fuel", "quadrant", "low"]), None)
    before = copy.deepcopy(runner.alg.actor.state_dict())
    runner.learn(2)
    after = runner.alg.actor.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.isfinite(value).all() for value in after.values())


def test_ppo_bootstraps_what_was_cut_off(make: Make) -> None:
    env = make(2)
    runner = OnPolicyRunner(env, config(["policy"], steps=5, gamma=0.5), None)
    rewards = []
    inner = env.step

    def step(actions: torch.Tensor) -> Any:
        shown = inner(actions)
        rewards.append(shown[1].clone())
        return shown

    env.step = step  # type: ignore[method-assign]  # its own, and keeps the rewards
    kept: dict[str, torch.Tensor] = {}
    compute = runner.alg.compute_returns
    runner.alg.compute_returns = lambda obs: (kept.update(
        rewards=runner.alg.storage.rewards.clone(), values=runner.alg.storage.values.clone()
    ), compute(obs))  # fmt: skip
    runner.learn(1)
    plain = torch.stack(rewards)[..., None]
    assert torch.equal(kept["rewards"][:4], plain[:4])
    torch.testing.assert_close(kept["rewards"][4], plain[4] + 0.5 * kept["values"][4])


def test_nothing_of_this_file_left_a_report() -> None:
    assert not (AIM / "validation_report.json").exists()
    assert not (GLIDER / "validation_report.json").exists()
