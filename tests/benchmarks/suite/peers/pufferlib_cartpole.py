"""PufferLib's Ocean cartpole: its C and its binding, stepped as its own Python class steps them.

Only the extension is built (see venvs.py): the rest of the package is not needed to step. Its rules differ from
CartPole-v1 in ways that make a step cheaper: 200 steps a limit, starts within 0.04 from the C library's `rand`, no flag
of truncation, and an end restarts the row within the same step without showing the last observation.
"""

from __future__ import annotations

import os

import binding  # built into this virtual environment
import numpy as np
from worker import action_batches

REPORT_INTERVAL = 128  # steps between its averages over episodes; 1 would cost it most of its speed


def build(num_envs):
    observations, actions = np.zeros((num_envs, 4), np.float32), np.zeros(num_envs, np.float32)
    rewards = np.zeros(num_envs, np.float32)
    terminals, truncations = np.zeros(num_envs, np.bool_), np.zeros(num_envs, np.bool_)
    rows = binding.vec_init(observations, actions, rewards, terminals, truncations, num_envs, 0, continuous=0)
    binding.vec_reset(rows, 0)
    tick = 0

    def step(given):
        nonlocal tick
        actions[:] = given
        tick += 1
        binding.vec_step(rows)
        info = [binding.vec_log(rows)] if tick % REPORT_INTERVAL == 0 else []
        return observations, rewards, terminals, truncations, info

    return {
        "version": os.environ["PEER_VERSION"],
        "settings": "Ocean cartpole, its binding, serial, outputs overwritten, " + os.environ["PEER_FLAGS"],
        "steps_per_call": num_envs,
        "batches": action_batches(num_envs, "float32"),
        "step": step,
    }
