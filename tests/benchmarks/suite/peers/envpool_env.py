"""EnvPool's environments, synchronous, with one thread: on so cheap a step more threads only wake each other."""

from __future__ import annotations

import envpool
from worker import action_batches, number_batches


def build(num_envs, environment="CartPole-v1"):
    env = envpool.make(environment, env_type="gymnasium", num_envs=num_envs, num_threads=1)
    env.reset()
    space = env.action_space
    if hasattr(space, "n"):
        batches = action_batches(num_envs, "int32", int(space.n))
    else:
        batches = number_batches(num_envs, space.low, space.high)
    return {
        "version": f"envpool {envpool.__version__}",
        "settings": "synchronous, one thread, its C++ environments",
        "steps_per_call": num_envs,
        "batches": batches,
        "step": env.step,
    }
