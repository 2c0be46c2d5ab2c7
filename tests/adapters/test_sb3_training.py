"""Stable-Baselines3 itself on the adapter: its wrappers, callbacks and algorithms."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback, EvalCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecCheckNan, VecFrameStack, VecMonitor, VecNormalize

import simulacrum
from simulacrum.adapters.sb3 import SB3VecEnv
from simulacrum.contract.package import load_package

Vector = Callable[..., Any]
LIMIT = 7
SMALL = {"net_arch": [8]}


def zeros(env: Any) -> np.ndarray:
    return np.zeros(env.num_envs, dtype=np.int64)


class Keep(BaseCallback):
    """The rewards of the last step as PPO left them, and what it thinks its last observations are worth."""

    def _on_step(self) -> bool:
        self.last = [info["terminal_observation"] for info in self.locals["infos"] if info]
        return True

    def _on_rollout_end(self) -> None:
        self.rewards = self.locals["rollout_buffer"].rewards[-1].copy()
        with torch.no_grad():
            self.values = self.model.policy.predict_values(torch.as_tensor(np.stack(self.last)))[:, 0].numpy()


@pytest.mark.parametrize(
    ("goal", "bootstrapped"), [(1000, True), (LIMIT, False)], ids=["cut off", "terminated"]
)
def test_ppo_bootstraps_what_was_cut_off_and_nothing_else(
    vector: Vector, goal: int, bootstrapped: bool
) -> None:
    env = SB3VecEnv(vector(2, params={"goal": goal}))
    model = PPO("MlpPolicy", env, n_steps=LIMIT, batch_size=14, gamma=0.5, n_epochs=1, seed=1, device="cpu")
    seen = Keep()
    model.learn(2 * LIMIT, callback=seen)
    assert [last[0] for last in seen.last] == [LIMIT, LIMIT]
    assert np.all(seen.values != 0)
    gained = np.float32(0.5) * seen.values if bootstrapped else np.zeros(2, dtype=np.float32)
    # PPO asks its network row by row, which rounds a sum otherwise than a batch does.
    np.testing.assert_allclose(seen.rewards, 1.0 + gained, rtol=1e-6)


def test_the_rollout_holds_no_junk_transition(vector: Vector) -> None:
    env = SB3VecEnv(vector(4, params={"spread": 1}))
    model = PPO("MlpPolicy", env, n_steps=40, batch_size=160, n_epochs=1, seed=1, device="cpu")
    model.learn(160)
    assert model.rollout_buffer.generator_ready  # PPO has flattened it to [rows * steps, ...]
    observations = model.rollout_buffer.observations.reshape(4, 40, 2)
    starts, junk = 0, 0
    for row in observations:
        for now, following in itertools.pairwise(row):
            ended = following[1] != now[1]
            starts += int(ended)
            junk += int(following[0] > 3 if ended else following[0] != now[0] + 1)
    assert junk == 0
    assert starts == 4 * 5


def test_dqn_stores_true_next_observations(vector: Vector) -> None:
    model = DQN(
        "MlpPolicy",
        SB3VecEnv(vector(2, params={"goal": [1000, 5]})),
        learning_starts=30,
        buffer_size=200,
        train_freq=4,
        batch_size=8,
        seed=1,
        device="cpu",
        policy_kwargs=SMALL,
    )
    model.learn(100)
    buffer = model.replay_buffer
    size = buffer.size()
    assert size >= 50
    np.testing.assert_array_equal(buffer.next_observations[:size, :, 0], buffer.observations[:size, :, 0] + 1)
    np.testing.assert_array_equal(buffer.next_observations[:size, :, 1], buffer.observations[:size, :, 1])
    assert buffer.timeouts[:size, 0].sum() == buffer.dones[:size, 0].sum() == size // LIMIT
    assert buffer.timeouts[:size, 1].sum() == 0
    assert buffer.dones[:size, 1].sum() == size // 5


@pytest.mark.long
def test_sac_stores_true_next_observations_and_learns_to_aim(vector: Vector) -> None:
    """aim shows the same target through its five steps, so that a next observation that differs is a reset's."""
    package = load_package(Path(__file__).parents[1] / "training" / "data" / "aim")
    model = SAC(
        "MlpPolicy",
        SB3VecEnv(vector(8, package)),
        learning_starts=160,
        learning_rate=3e-3,
        buffer_size=4000,
        train_freq=1,
        gradient_steps=1,
        batch_size=64,
        seed=1,
        device="cpu",
        policy_kwargs={"net_arch": [32]},
    )
    before, _ = evaluate_policy(model, VecMonitor(SB3VecEnv(vector(8, package))), n_eval_episodes=40)
    model.learn(4000)
    after, _ = evaluate_policy(model, VecMonitor(SB3VecEnv(vector(8, package))), n_eval_episodes=40)
    buffer = model.replay_buffer
    size = buffer.size()
    np.testing.assert_array_equal(buffer.next_observations[:size], buffer.observations[:size])
    assert buffer.timeouts[:size].sum() == buffer.dones[:size].sum() == 8 * (size // 5)
    assert before < -0.5
    assert after > -0.1


@pytest.mark.long
def test_dqn_learns_toywalk(vector: Vector) -> None:
    package = simulacrum.load_package("toywalk")
    model = DQN(
        "MlpPolicy",
        SB3VecEnv(vector(8, package)),
        learning_starts=200,
        learning_rate=2e-3,
        buffer_size=10_000,
        train_freq=8,
        gradient_steps=4,
        target_update_interval=64,
        exploration_fraction=0.5,
        gamma=0.95,
        batch_size=64,
        seed=4,
        device="cpu",
        policy_kwargs={"net_arch": [32]},
    )
    before, _ = evaluate_policy(model, VecMonitor(SB3VecEnv(vector(20, package))), n_eval_episodes=40)
    model.learn(6000)
    after, _ = evaluate_policy(model, VecMonitor(SB3VecEnv(vector(20, package))), n_eval_episodes=40)
    assert before < -20  # it walks left, and stays there
    assert after > 0  # 5 is about what always walking right gives


def test_vec_monitor_counts_as_the_env_does(vector: Vector, tmp_path: Path) -> None:
    env = VecMonitor(SB3VecEnv(vector(3)), str(tmp_path / "log"))
    env.reset()
    for _ in range(LIMIT):
        _, _, dones, infos = env.step(zeros(env))
    assert dones.all()
    assert [(info["episode"]["r"], info["episode"]["l"]) for info in infos] == [(LIMIT, LIMIT)] * 3
    env.close()
    assert (tmp_path / "log.monitor.csv").read_text().count("7.0,7,") == 3


def test_vec_normalize_scales_observations_terminal_ones_too(vector: Vector) -> None:
    env = VecNormalize(SB3VecEnv(vector(3)), clip_obs=10.0)
    env.reset()
    for _ in range(LIMIT):
        observation, rewards, _, infos = env.step(zeros(env))
    raw = env.unnormalize_obs(observation)
    assert raw[:, 0] == pytest.approx([0, 0, 0], abs=1e-5)  # the way there and back rounds
    assert env.unnormalize_obs(infos[0]["terminal_observation"])[0] == pytest.approx(LIMIT, abs=1e-4)
    assert env.get_original_reward().tolist() == [1, 1, 1]
    assert rewards.tolist() != [1, 1, 1]


def test_other_wrappers_and_callbacks_learn(vector: Vector, tmp_path: Path) -> None:
    env = VecNormalize(VecMonitor(VecFrameStack(VecCheckNan(SB3VecEnv(vector(4)), raise_exception=True), 2)))
    rest = VecNormalize(
        VecMonitor(VecFrameStack(VecCheckNan(SB3VecEnv(vector(2)), raise_exception=True), 2)), training=False
    )
    model = PPO(
        "MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=1, device="cpu", policy_kwargs=SMALL
    )
    model.learn(
        256,
        callback=[
            EvalCallback(
                rest, eval_freq=16, n_eval_episodes=4, best_model_save_path=str(tmp_path), verbose=0
            ),
            CheckpointCallback(16, str(tmp_path / "steps")),
        ],
    )
    assert (tmp_path / "best_model.zip").exists()
    assert len(list((tmp_path / "steps").iterdir())) == 4
    assert model.ep_info_buffer
    assert {info["r"] for info in model.ep_info_buffer} == {LIMIT}
    again = PPO.load(tmp_path / "best_model.zip", env=env, device="cpu")
    again.learn(64)


def test_evaluate_policy_reads_whole_episodes(vector: Vector) -> None:
    model = A2C("MlpPolicy", SB3VecEnv(vector(2)), seed=1, device="cpu", policy_kwargs=SMALL)
    model.learn(40)
    returns, lengths = evaluate_policy(
        model, VecMonitor(SB3VecEnv(vector(3))), n_eval_episodes=7, return_episode_rewards=True
    )
    assert returns == [LIMIT] * 7
    assert lengths == [LIMIT] * 7
