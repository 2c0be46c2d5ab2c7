"""Environments of Gymnasium and of its registry, from the virtual environment that the suite runs in."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from suite.contender import Contender, batches_of, timed

VERSION = f"gymnasium {gym.__version__}"


def cartpole_vector(num_envs: int) -> Contender:
    """`CartPoleVectorEnv`: the physics in NumPy, written for batches by Gymnasium's authors."""
    env = gym.make_vec("CartPole-v1", num_envs=num_envs, vectorization_mode="vector_entry_point")
    return _contender("Gymnasium CartPoleVectorEnv", env, "NumPy, its own batch class", num_envs)


def sync(num_envs: int, env_id: str = "CartPole-v1", version: str = VERSION) -> Contender:
    """`SyncVectorEnv`: the single environments of `gym.make`, one after the other."""
    env = gym.make_vec(env_id, num_envs=num_envs, vectorization_mode="sync")
    settings = "Python, one environment after the other"
    return _contender("Gymnasium SyncVectorEnv", env, settings, num_envs, version)


def _contender(name: str, env: Any, settings: str, num_envs: int, version: str = VERSION) -> Contender:
    env.reset(seed=0)
    batches = [batch.numpy() for batch in batches_of(env.single_action_space, num_envs)]
    return Contender(name, "peer", version, settings, num_envs, timed(env.step, batches), env.close)
