"""CartPole as one scalar loop for numba: float32, Gymnasium's rules, numba's own generator, resets in the next step."""

from __future__ import annotations

import math
from importlib.metadata import version

import numba
import numpy as np
from worker import action_batches

ANGLE_LIMIT = np.float32(12 * 2 * math.pi / 360)
F = np.float32


@numba.njit(cache=False, fastmath=False, error_model="numpy")
def step_rows(state, t, ended, actions, observations, rewards, terminated, truncated):
    for i in range(actions.shape[0]):
        rewards[i] = F(0.0)
        terminated[i] = truncated[i] = False
        if ended[i]:
            for k in range(4):
                state[i, k] = F(np.random.uniform(-0.05, 0.05))
            t[i] = 0
            ended[i] = False
        else:
            x, x_dot, theta, theta_dot = state[i, 0], state[i, 1], state[i, 2], state[i, 3]
            force = F(10.0) if actions[i] == 1 else F(-10.0)
            cosine, sine = math.cos(theta), math.sin(theta)
            push = (force + F(0.05) * theta_dot * theta_dot * sine) / F(1.1)
            theta_acc = (F(9.8) * sine - cosine * push) / (
                F(0.5) * (F(4.0 / 3.0) - F(0.1) * cosine * cosine / F(1.1))
            )
            x_acc = push - F(0.05) * theta_acc * cosine / F(1.1)
            x += F(0.02) * x_dot
            x_dot += F(0.02) * x_acc
            theta += F(0.02) * theta_dot
            theta_dot += F(0.02) * theta_acc
            state[i, 0], state[i, 1], state[i, 2], state[i, 3] = x, x_dot, theta, theta_dot
            t[i] += 1
            rewards[i] = F(1.0)
            terminated[i] = x < F(-2.4) or x > F(2.4) or theta < -ANGLE_LIMIT or theta > ANGLE_LIMIT
            truncated[i] = t[i] >= 500
            ended[i] = terminated[i] or truncated[i]
        for k in range(4):
            observations[i, k] = state[i, k]


def build(num_envs):
    state, t = np.zeros((num_envs, 4), np.float32), np.zeros(num_envs, np.int32)
    ended = np.ones(num_envs, np.bool_)  # every row begins anew in the first step
    outputs = [np.zeros((num_envs, 4), np.float32), np.zeros(num_envs, np.float32)]
    outputs += [np.zeros(num_envs, np.bool_), np.zeros(num_envs, np.bool_)]
    return {
        "version": f"numba {version('numba')}",
        "settings": "one njit loop over rows, one thread, outputs overwritten",
        "steps_per_call": num_envs,
        "batches": action_batches(num_envs, "int64"),
        "step": lambda actions: step_rows(state, t, ended, actions, *outputs),
    }
