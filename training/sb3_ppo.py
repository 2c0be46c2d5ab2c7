"""Stable-Baselines3's PPO on the same environment, through the adapter: `python training/sb3_ppo.py --help`.

What ppo.py spells out, the library does here. How observations are read is ppo.py's. `--algorithm maskable_ppo` is
sb3-contrib's, for environments whose schema declares action masks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console
from stable_baselines3 import PPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecMonitor

from common import EnvArgs, EvalArgs, gate, new_folder
from common.library import finish
from ppo import ITEMS, Reader
from simulacrum.adapters.sb3 import make_sb3


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "sb3_ppo"  # name of the experiment, a part of the run's folder name
    algorithm: Literal["ppo", "maskable_ppo"] = "ppo"

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


def learner(algorithm: str) -> Any:
    """The library's class, PPO or sb3-contrib's MaskablePPO."""
    if algorithm == "ppo":
        return PPO
    try:
        from sb3_contrib import MaskablePPO
    except ImportError:
        raise SystemExit("--algorithm maskable_ppo needs sb3-contrib: pip install 'simulacrum[sb3-contrib]'") from None
    return MaskablePPO


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
    package, provenance = gate(args)
    algorithm, masked = learner(args.algorithm), args.algorithm == "maskable_ppo"
    if masked and package.schema.action_mask is None:
        raise SystemExit(f"--algorithm maskable_ppo needs action masks, and the schema of {args.env_id} has none")
    env = make_sb3(args.env_id, args.num_envs, device=args.device, compile=args.compile)
    folder = new_folder(args, provenance)
    console = Console()

    policy: dict[str, Any] = {
        "net_arch": [args.width, args.width],
        "activation_fn": torch.nn.ReLU,
    }
    items = args.items or ITEMS.get(args.env_id)
    if items is not None:
        policy["features_extractor_class"] = Features
        policy["features_extractor_kwargs"] = {"items": items, "width": args.width // 4}
    model = algorithm(
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
        allowed = {"action_masks": np.array(env.unwrapped.runner.action_mask())} if masked else {}
        return model.predict(observation, deterministic=True, **allowed)[0]

    return finish(
        args, folder, package, provenance, console, f"SB3 {algorithm.__name__}", trained,
        seconds=seconds, steps=model.num_timesteps, model=folder / "model.zip",
    )  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
