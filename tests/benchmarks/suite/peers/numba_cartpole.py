"""CartPole as one scalar loop for numba: Gymnasium's rules in float64, numba's generator, resets in the next step."""

from __future__ import annotations

import math
from importlib.metadata import version

import numba
import numpy as np
from worker import action_batches

ANGLE_LIMIT = 12 * 2 * math.pi / 360


@numba.njit(cache=False, fastmath=False, error_model="numpy")
def step_rows(state, t, ended, actions, observations, rewards, terminated, truncated):
    for i in range(actions.shape[0]):
        rewards[i] = 0.0
        terminated[i] = truncated[i] = False
        if ended[i]:
            for k in range(4):
                state[i, k] = np.random.uniform(-0.05, 0.05)
            t[i] = 0
            ended[i] = False
        else:
            x, x_dot, theta, theta_dot = state[i, 0], state[i, 1], state[i, 2], state[i, 3]
            force = 10.0 if actions[i] == 1 else -10.0
            cosine, sine = math.cos(theta), math.sin(theta)
            push = (force + 0.05 * theta_dot * theta_dot * sine) / 1.1
            theta_acc = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
            x_acc = push - 0.05 * theta_acc * cosine / 1.1
            x += 0.02 * x_dot
            x_dot += 0.02 * x_acc
            theta += 0.02 * theta_dot
            theta_dot += 0.02 * theta_acc
            state[i, 0], state[i, 1], state[i, 2], state[i, 3] = x, x_dot, theta, theta_dot
            t[i] += 1
            rewards[i] = 1.0
            terminated[i] = x < -2.4 or x > 2.4 or theta < -ANGLE_LIMIT or theta > ANGLE_LIMIT
            truncated[i] = t[i] >= 500
            ended[i] = terminated[i] or truncated[i]
        for k in range(4):
            observations[i, k] = state[i, k]


def build(num_envs):
    state, t = np.zeros((num_envs, 4)), np.zeros(num_envs, np.int32)
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
