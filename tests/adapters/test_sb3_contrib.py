"""sb3-contrib's MaskablePPO on the adapter, with the action masks of the schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

import simulacrum
from simulacrum.adapters.sb3 import SB3VecEnv

Vector = Callable[..., Any]
LIMIT = 7  # counter's time limit
SMALL: dict[str, Any] = {"n_epochs": 1, "seed": 1, "device": "cpu", "policy_kwargs": {"net_arch": [8]}}


class Rollouts(BaseCallback):
    """Observations [T, N, ...], actions [T, N] and masks [T, N, 2] of each rollout, as they were collected."""

    def _on_training_start(self) -> None:
        self.kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.locals["rollout_buffer"]
        masks = buffer.action_masks.reshape(*buffer.actions.shape[:2], 2)
        self.kept.append((buffer.observations.copy(), buffer.actions[..., 0].copy(), masks.copy()))


def test_no_masked_action_is_taken_and_the_others_are(vector: Vector) -> None:
    env = SB3VecEnv(vector(4, params={"spread": 1, "goal": [1000, 6, 5, 4]}))
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, **SMALL)
    seen = Rollouts()
    model.learn(3 * 128, callback=seen)
    assert len(seen.kept) == 3
    for observations, actions, masks in seen.kept:
        few = observations[..., 0] < 3  # counter's rule; the first step of an episode that follows an end among them
        np.testing.assert_array_equal(masks[..., 1], few)
        assert masks[..., 0].all()
        assert (actions[~few] == 0).all()
        assert set(actions[few]) == {0, 1}


def test_predictions_and_evaluations_are_masked(vector: Vector) -> None:
    env = VecMonitor(SB3VecEnv(vector(3)))
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=48, **SMALL)
    rest = VecMonitor(SB3VecEnv(vector(2)))
    model.learn(96, callback=MaskableEvalCallback(rest, eval_freq=16, n_eval_episodes=2, verbose=0))
    returns, lengths = evaluate_policy(model, rest, n_eval_episodes=5, return_episode_rewards=True)
    assert returns == lengths == [LIMIT] * 5
    observation = env.reset()
    for _ in range(2 * LIMIT):
        masks = get_action_masks(env)
        assert masks.shape == (3, 2)
        action, _ = model.predict(observation, action_masks=masks, deterministic=False)
        assert (action[observation[:, 0] >= 3] == 0).all()
        observation, *_ = env.step(action)


def test_an_env_without_masks_says_so(vector: Vector) -> None:
    env = SB3VecEnv(vector(2, simulacrum.load_package("toywalk")))
    assert not is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=32, **SMALL)
    with pytest.raises(ValueError, match="does not support action masking"):
        model.learn(64)
