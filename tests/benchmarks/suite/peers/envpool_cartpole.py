"""EnvPool's CartPole-v1, synchronous, with one thread: on so cheap a step more threads only wake each other."""

from __future__ import annotations

import envpool
from worker import action_batches


def build(num_envs):
    env = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=num_envs, num_threads=1)
    env.reset()
    return {
        "version": f"envpool {envpool.__version__}",
        "settings": "synchronous, one thread, its C++ environments",
        "steps_per_call": num_envs,
        "batches": action_batches(num_envs, "int32"),
        "step": env.step,
    }
