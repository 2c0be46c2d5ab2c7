"""Steps of EnvPool's environments: `python drive_envpool.py NAME out.npz`, in its own virtual environment.

They lie along episodes of random actions. EnvPool takes no state, so the states are those that it shows: an observation
that is the state. Where nothing is random the actions are given: `python drive_envpool.py NAME case.npz out.npz`.
"""

from __future__ import annotations

import sys

import envpool
import numpy as np

NUM_ENVS, STEPS = 64, 1_200
FIELDS = {"CartPole-v1": ["x", "x_dot", "theta", "theta_dot"], "MountainCar-v0": ["position", "velocity"],
          "MountainCarContinuous-v0": ["position", "velocity"]}  # fmt: skip


def columns(name, observation):
    fields = FIELDS.get(name)
    return {"cell": observation} if fields is None else {key: observation[:, i] for i, key in enumerate(fields)}


def walk(name: str, source: str, target: str) -> None:
    actions = np.load(source)["action"]  # [rows, steps]
    env = envpool.make_gymnasium(name, num_envs=len(actions), num_threads=1)
    images, rewards, ends = [env.reset()[0]["image"].copy()], [], []
    for action in actions.T:
        seen, reward, terminated, _, _ = env.step(action.astype(np.int32))
        images.append(seen["image"].copy())
        rewards.append(reward.copy())
        ends.append(terminated.copy())
    np.savez(target, version=f"envpool {envpool.__version__}", image=np.stack(images, 1), reward=np.stack(rewards, 1),
             terminated=np.stack(ends, 1))  # fmt: skip


def main(name: str, target: str) -> None:
    env = envpool.make_gymnasium(name, num_envs=NUM_ENVS, seed=7, num_threads=1)
    generator, rows = np.random.default_rng(0), []
    observation, _ = env.reset()
    over = np.zeros(NUM_ENVS, dtype=bool)
    push = generator.choice([-1.0, 1.0], NUM_ENVS)
    for _ in range(STEPS):
        if hasattr(env.action_space, "n"):
            action = generator.integers(0, env.action_space.n, NUM_ENVS).astype(np.int32)
        else:  # half of the rows push along with their speed, so that walls and goal are met
            along = np.where(np.arange(NUM_ENVS) % 2 == 0, np.where(observation[:, -1] >= 0, 1.0, -1.0), push)
            action = np.clip(along + generator.normal(0, 0.3, NUM_ENVS), -1, 1).astype(np.float32)[:, None]
        after, reward, terminated, truncated, info = env.step(action)
        row = {f"state.{key}": value for key, value in columns(name, observation).items()}
        row |= {f"next.{key}": value for key, value in columns(name, after).items()}
        row |= {"action": action, "reward": reward, "terminated": terminated, "truncated": truncated,
                "elapsed": info["elapsed_step"]}  # fmt: skip
        rows.append({key: np.array(value)[~over] for key, value in row.items()})  # after an end the step is a reset
        over, observation = terminated | truncated, after
    made = {key: np.concatenate([row[key] for row in rows]) for key in rows[0]}
    np.savez(target, version=f"envpool {envpool.__version__}", **made)


if __name__ == "__main__":
    (main if len(sys.argv) == 3 else walk)(*sys.argv[1:])
