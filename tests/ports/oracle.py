"""The original programs: states to begin in, and what one step of each makes of a state. What a port is held against.

A case is a dict of arrays with the rows in the first dimension: `state.NAME` before the step and `action`; a step adds
`next.NAME`, `reward` and `terminated`. States are float32 numbers, so that a port that computes in float32 begins at
the same point; the original computes on from them in float64.
"""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np

Case = dict[str, np.ndarray]
ROWS = 4_000
CLASSIC: dict[str, dict[str, float]] = {  # fields of a state and their largest sizes in what is tried
    "CartPole-v1": {"x": 2.4, "x_dot": 3.0, "theta": 0.2094, "theta_dot": 3.0},
    "Acrobot-v1": {"joint_angle1": 3.14159, "joint_angle2": 3.14159, "velocity_1": 12.56637, "velocity_2": 28.27433},
    "Pendulum-v1": {"theta": 20.0, "theta_dot": 8.0},
    "MountainCar-v0": {"position": 1.2, "velocity": 0.07},
    "MountainCarContinuous-v0": {"position": 1.2, "velocity": 0.07},
}
MINATAR: dict[str, list[str]] = {  # fields of a state; of these games no step draws
    "Breakout-MinAtar": ["ball_y", "ball_x", "ball_dir", "pos", "brick_map", "strike", "last_x", "last_y"],
    "SpaceInvaders-MinAtar": ["pos", "f_bullet_map", "e_bullet_map", "alien_map", "alien_dir", "enemy_move_interval",
                              "alien_move_timer", "alien_shot_timer", "ramp_index", "shot_timer"],
}  # fmt: skip
GRIDS = ("MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-8x8-v0")  # nothing in them is random
_MODULES = {"Breakout-MinAtar": "breakout", "SpaceInvaders-MinAtar": "space_invaders"}
TABLES = ("FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v3")
# Gymnasium 1.4 has only this one left; its dry streets are those of version 3.
_NAMES = {"Taxi-v3": "Taxi-v4"}


def case_of(name: str) -> Case:
    """States and actions of an environment with what its original makes of them."""
    if name in MINATAR:
        return _minatar(_MODULES[name], MINATAR[name])
    fields, generator = CLASSIC[name], np.random.default_rng(0)
    ends = np.array(list(fields.values()))
    states = generator.uniform(-ends, ends, (ROWS, len(ends)))
    at_end = generator.random(states.shape) < 0.125
    states = np.where(at_end, np.sign(states) * ends * (1 - 1e-6), states)
    if name.startswith("MountainCar"):  # a third about to touch the wall, and a third about to reach the goal
        states[:, 0] = np.clip(states[:, 0], -1.2, 0.6)
        states[::3, 0] = generator.uniform(-1.2, -1.15, len(states[::3]))
        states[1::3, 0] = generator.uniform(0.4, 0.55, len(states[1::3]))
    space: Any = gymnasium.make(name).action_space
    space.seed(0)
    case = {f"state.{field}": states[:, column].astype(np.float32) for column, field in enumerate(fields)}
    case["action"] = np.stack([space.sample() for _ in range(ROWS)])
    return case | stepped(name, case)


def stepped(name: str, case: Case) -> Case:
    """One step of Gymnasium's environment from each state of a case of classic control."""
    env: Any = gymnasium.make(name).unwrapped
    env.reset()
    states = np.stack([case[f"state.{field}"] for field in CLASSIC[name]], axis=1).astype(np.float64)
    after, rewards, ends = np.empty(states.shape), np.empty(len(states)), np.empty(len(states), dtype=bool)
    for row, (state, action) in enumerate(zip(states, case["action"], strict=True)):
        env.state, env.steps_beyond_terminated = np.array(state), None
        _, rewards[row], ends[row], _, _ = env.step(action)
        after[row] = env.state
    made = {f"next.{field}": after[:, column] for column, field in enumerate(CLASSIC[name])}
    return made | {"reward": rewards, "terminated": ends}


def _minatar(module: str, names: list[str]) -> Case:
    """Steps along episodes of random actions."""
    env: Any = importlib.import_module(f"minatar.environments.{module}").Env(ramping=True)
    env.random.seed(0)
    generator = np.random.default_rng(0)
    rows: list[Case] = []
    while len(rows) < ROWS:
        if env.terminal:
            env.reset()
        row = {f"state.{name}": np.array(getattr(env, name)) for name in names}
        row["action"] = generator.integers(6)
        row["reward"], row["terminated"] = env.act(int(row["action"]))
        row |= {f"next.{name}": np.array(getattr(env, name)) for name in names}
        rows.append(row)
    return {key: np.stack([row[key] for row in rows]) for key in rows[0]}


def allowed(name: str) -> dict[tuple[int, int], set[tuple[int, float, bool]]]:
    """State and action to every outcome that Gymnasium's table has for them: next state, reward, terminated."""
    table: Any = gymnasium.make(_NAMES.get(name, name)).unwrapped
    return {
        (state, action): {(int(after), float(reward), bool(ended)) for chance, after, reward, ended in rows if chance}
        for state, actions in table.P.items()
        for action, rows in actions.items()
    }


def walked(name: str) -> Case:
    """Actions of many episodes `[rows, steps]`, and what MiniGrid shows on the way; after an end nothing counts.

    `image` is uint8 `[rows, steps + 1, 7, 7, 3]`; `alive` is True where a step was taken before the episode was over.
    """
    import minigrid  # noqa: F401  # registers its ids

    actions = np.random.default_rng(0).choice(7, p=[0.2, 0.2, 0.4, 0.05, 0.05, 0.05, 0.05], size=(96, 60))
    env = gymnasium.make(name)
    case: Case = {"action": actions, "image": np.zeros((96, 61, 7, 7, 3), np.uint8), "reward": np.zeros((96, 60)),
                  "terminated": np.zeros((96, 60), bool), "alive": np.zeros((96, 60), bool)}  # fmt: skip
    for row in range(len(actions)):
        case["image"][row, 0] = env.reset()[0]["image"]
        for step, action in enumerate(actions[row]):
            seen, case["reward"][row, step], case["terminated"][row, step], _, _ = env.step(int(action))
            case["image"][row, step + 1], case["alive"][row, step] = seen["image"], True
            if case["terminated"][row, step]:
                break
    return case
