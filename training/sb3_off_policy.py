"""Stable-Baselines3's DQN and SAC on the same environment, through the adapter, as a measure for dqn.py and sac.py.

    python training/sb3_off_policy.py --algorithm sac --env-id simulacrum/pendulum-v1

The arguments mean what they mean there, and the library's networks get the same width, so that what differs is who
wrote the algorithm.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
import tyro
from rich.console import Console
from stable_baselines3 import DQN, SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

from common import EnvArgs, EvalArgs, gate, measure, new_folder, scripted_policies, summary, table, write_results
from simulacrum.adapters.sb3 import make_sb3


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "sb3_off_policy"  # name of the experiment, a part of the run's folder name
    algorithm: Literal["dqn", "sac"] = "dqn"

    total_steps: int = 50_000  # environment steps, all rows together
    num_envs: int = 16  # rows of the batch
    num_steps: int = 16  # steps of every row between updates
    update_to_data: float = 0.25  # updates for each environment step
    minibatch: int = 128  # transitions an update
    buffer: int = 100_000  # transitions that the replay buffer keeps
    random_steps: int = 1_000  # environment steps before anything is learned
    learning_rate: float = 1e-3  # DQN's falls to zero along a line, as in dqn.py
    gamma: float = 0.99  # discount
    copy_every: int = 20  # DQN: updates between copies into the target network
    explore_first: float = 1.0  # DQN: share of random actions at the start
    explore_last: float = 0.04  # DQN: share of random actions in the end
    explore_until: float = 0.2  # DQN: part of the run in which that share falls
    tau: float = 0.005  # SAC: how much of the critics goes into their slow copies with each update
    width: int = 128  # units of the hidden layers


class Curve(BaseCallback):
    """Points (step, seconds, mean return, mean length, episodes), as the other scripts' results.json has them."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self.every, self.began = every, time.perf_counter()
        self.points: list[list[float]] = []
        self.ended: list[tuple[float, float]] = []

    def _on_step(self) -> bool:
        self.ended += [(info["episode"]["r"], info["episode"]["l"]) for info in self.locals["infos"] if info]
        if self.ended and self.num_timesteps % self.every < self.training_env.num_envs:
            returns, lengths = np.mean(self.ended, axis=0).tolist()
            seconds = time.perf_counter() - self.began
            self.points.append([self.num_timesteps, seconds, returns, lengths, len(self.ended)])
            self.ended.clear()
        return True


def build(args: Args, env: VecMonitor) -> DQN | SAC:
    """The library's model with these arguments."""
    shared: dict[str, Any] = {
        "policy": "MlpPolicy",
        "env": env,
        "buffer_size": args.buffer,
        "learning_starts": args.random_steps,
        "batch_size": args.minibatch,
        "gamma": args.gamma,
        "train_freq": args.num_steps,
        "gradient_steps": max(1, round(args.num_steps * args.num_envs * args.update_to_data)),
        "policy_kwargs": {"net_arch": [args.width, args.width]},
        "seed": args.seed,
        "device": args.device,
    }
    if args.algorithm == "sac":
        return SAC(learning_rate=args.learning_rate, tau=args.tau, **shared)
    return DQN(
        learning_rate=lambda left: args.learning_rate * left,
        target_update_interval=round(args.copy_every / args.update_to_data),
        exploration_initial_eps=args.explore_first,
        exploration_final_eps=args.explore_last,
        exploration_fraction=args.explore_until,
        **shared,
    )


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    package, provenance = gate(args)
    env = VecMonitor(make_sb3(args.env_id, args.num_envs, device=args.device, compile=args.compile))
    folder = new_folder(args, provenance)
    console = Console()
    model, curve = build(args, env), Curve(max(1, args.total_steps // 100))
    began = time.perf_counter()
    model.learn(args.total_steps, callback=curve)
    seconds = time.perf_counter() - began
    model.save(folder / "model")
    env.close()

    def trained(env: Any, observation: np.ndarray) -> Any:
        return model.predict(observation, deterministic=True)[0]

    policies = {f"SB3 {args.algorithm.upper()}, trained": trained, **scripted_policies(package)}
    measured = {name: measure(args, act) for name, act in policies.items()}
    console.print(table(args, measured))
    speed = model.num_timesteps / seconds
    results = {
        "seconds": seconds,
        "steps": model.num_timesteps,
        "steps_per_second": speed,
        "curve": curve.points,
        "reference": {name: summary(*numbers) for name, numbers in measured.items()},
    }
    console.print(f"trained in {seconds:.0f} s, {speed:,.0f} steps/s with the updates", highlight=False)
    return write_results(folder, args, provenance, results)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
