"""Stable-Baselines3's PPO on the same environment, through the adapter: `python training/sb3_ppo.py --help`.

What ppo.py spells out, the library does here. How observations are read, measuring and the table are ppo.py's.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from ppo import ITEMS, Reader, measure, scripted, summary, table
from rich.console import Console
from stable_baselines3 import PPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecMonitor

import simulacrum
from simulacrum.adapters.sb3 import make_sb3


@dataclass
class Args:
    env_id: str = "simulacrum/forager-v0"  # id of a registered environment
    register: Path | None = None  # folder of an environment package to register first
    exp: str = "sb3_ppo"  # name of the experiment, a part of the run's folder name
    seed: int = 1  # of the network, the sampling and the environment's rows
    runs: Path = Path("runs")  # where the run's folder is made
    device: str = "cpu"  # where environment and network live
    threads: int = 1  # threads of torch; more than the free cores makes everything slower
    compile: str | None = None  # form of the environment: eager, native, inductor; the fastest validated one by default

    total_steps: int = 1_000_000  # environment steps, all rows together
    num_envs: int = 256  # rows of the batch
    num_steps: int = 64  # steps of every row between updates
    epochs: int = 4  # passes over each batch of experience
    minibatch: int = 2048  # transitions an update
    learning_rate: float = 1e-3  # at the start; falls to zero along a line
    gamma: float = 0.99  # discount
    entropy: float = 0.005  # weight of the entropy bonus
    width: int = 128  # units of the hidden layers
    items: tuple[int, int] | None = None  # K and M of an observation that ends in items (see ITEMS in ppo.py)

    eval_episodes: int = 100  # episodes on the reference twin at the end, for each seed
    eval_seeds: int = 5  # seeds to measure with


class Features(BaseFeaturesExtractor):
    """ppo.py's `Reader` where the library looks for such a thing; policy and value share it."""

    def __init__(self, observations: gym.Space[Any], items: tuple[int, int], width: int) -> None:
        reader = Reader(observations.shape[0], items, width)
        super().__init__(observations, reader.size)
        self.read = reader

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.read(observations)


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    if args.register is not None:
        simulacrum.register_envs(args.register)
    package = simulacrum.load_package(gym.spec(args.env_id).kwargs["package"])
    simulacrum.require_fresh_report(package)
    env = make_sb3(args.env_id, args.num_envs, device=args.device, compile=args.compile)
    name = args.env_id.rpartition("/")[2]
    folder = args.runs / f"{name}__{args.exp}__{args.seed}__{time.strftime('%Y%m%d-%H%M%S')}"
    folder.mkdir(parents=True)
    console = Console()

    policy: dict[str, Any] = {
        "net_arch": [args.width, args.width],
        "activation_fn": torch.nn.ReLU,
    }
    items = args.items or ITEMS.get(args.env_id)
    if items is not None:
        policy["features_extractor_class"] = Features
        policy["features_extractor_kwargs"] = {"items": items, "width": args.width // 4}
    model = PPO(
        "MlpPolicy",
        VecMonitor(env),
        n_steps=args.num_steps,
        batch_size=args.minibatch,
        n_epochs=args.epochs,
        learning_rate=lambda left: args.learning_rate * left,
        gamma=args.gamma,
        ent_coef=args.entropy,
        policy_kwargs=policy,
        seed=args.seed,
        device=args.device,
    )
    model.set_logger(configure(str(folder), ["stdout", "csv", "tensorboard"]))
    iterations = max(1, args.total_steps // (args.num_envs * args.num_steps))
    began = time.perf_counter()
    model.learn(args.total_steps, log_interval=max(1, iterations // 10))
    seconds = time.perf_counter() - began
    model.save(folder / "model")
    model.logger.close()
    env.close()

    def trained(env: Any, observation: np.ndarray) -> Any:
        return model.predict(observation, deterministic=True)[0]

    policies = {"SB3 PPO, trained": trained}
    probes = package.probes()
    for probe in probes.PROBES if probes is not None else ():
        policies[f"{probe.name}, scripted"] = scripted(probe.act)
    measured = {name: measure(args, act) for name, act in policies.items()}
    console.print(table(args, measured))
    results = {
        "folder": str(folder),
        "seconds": seconds,
        "steps_per_second": model.num_timesteps / seconds,
        "reference": {name: summary(*numbers) for name, numbers in measured.items()},
    }
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    speed = results["steps_per_second"]
    console.print(f"trained in {seconds:.0f} s, {speed:,.0f} steps/s with the updates", highlight=False)
    console.print(f"model: {folder / 'model.zip'}\nTensorBoard: tensorboard --logdir {args.runs}", soft_wrap=True)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
