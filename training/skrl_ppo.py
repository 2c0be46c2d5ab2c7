"""skrl's PPO on the same environment, through the adapter: `python training/skrl_ppo.py --help`.

What ppo.py spells out, the library does here; how observations are read is ppo.py's. skrl values a state that was cut
off by the next episode's first observation; `FinalObservations` shows it the true one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console
from skrl.agents.torch.ppo import PPO
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, GaussianMixin, Model
from skrl.resources.schedulers.torch import KLAdaptiveLR
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn

from common import (
    EnvArgs,
    EvalArgs,
    action_bounds,
    action_count,
    gate,
    new_folder,
    observation_size,
)
from common.library import finish
from ppo import ITEMS, Reader, layer
from simulacrum.adapters.skrl import FinalObservations, SkrlEnv, make_skrl


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "skrl_ppo"  # name of the experiment, a part of the run's folder name

    total_steps: int = 1_000_000  # environment steps, all rows together
    num_envs: int = 512  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 4  # passes over each batch of experience
    minibatch: int = 2048  # transitions an update
    learning_rate: float = 1e-3  # at the start; the library adapts it to how far the policy moves
    target_kl: float = 0.01  # how far it should move in an update
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    entropy: float = 0.005  # weight of the entropy bonus
    width: int = 128  # units of the hidden layers
    items: tuple[int, int] | None = None  # K and M of an observation that ends in items (see ITEMS in ppo.py)


def body(env: SkrlEnv, args: Args, outputs: int, gain: float) -> nn.Module:
    """ppo.py's `Reader` and two layers."""
    read = Reader(observation_size(env.observation_space, "skrl_ppo.py"), args.items or ITEMS.get(args.env_id, (0, 0)),
                  args.width // 4)  # fmt: skip
    hidden = (layer(read.size, args.width), nn.ReLU(), layer(args.width, args.width), nn.ReLU())
    return nn.Sequential(read, *hidden, layer(args.width, outputs, gain))


class Choice(CategoricalMixin, Model):
    """A policy for Discrete actions."""

    def __init__(self, env: SkrlEnv, args: Args) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=args.device)
        CategoricalMixin.__init__(self)
        self.net = body(env, args, action_count(env.action_space, "skrl_ppo.py"), 0.01)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {}

    def best(self, observation: torch.Tensor) -> torch.Tensor:
        return self.net(observation).argmax(-1)


class Numbers(GaussianMixin, Model):
    """A policy for Box actions: a Gaussian around the centre of the space, clipped to its bounds."""

    def __init__(self, env: SkrlEnv, args: Args) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=args.device)
        GaussianMixin.__init__(self, clip_actions=True)
        centre, reach = action_bounds(env.action_space, "skrl_ppo.py")
        self.register_buffer("centre", centre)
        self.register_buffer("reach", reach)
        self.net = body(env, args, len(centre), 0.01)
        self.log_std = nn.Parameter(reach.log() - 0.5)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.best(inputs["observations"]), {"log_std": self.log_std}

    def best(self, observation: torch.Tensor) -> torch.Tensor:
        return self.centre + self.reach * self.net(observation)


class Value(DeterministicMixin, Model):
    def __init__(self, env: SkrlEnv, args: Args) -> None:
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device=args.device)
        DeterministicMixin.__init__(self)
        self.net = body(env, args, 1, 1.0)

    def compute(self, inputs: dict[str, Any], role: str = "") -> Any:
        return self.net(inputs["observations"]), {}


class TruePPO(FinalObservations, PPO):
    """The library's PPO, bootstrapping what was cut off from the old episode's last observation."""


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    set_seed(args.seed)
    package, provenance = gate(args)
    env = make_skrl(args.env_id, args.num_envs, seed=args.seed << 20, device=args.device, compile=args.compile)
    discrete = isinstance(env.action_space, gym.spaces.Discrete)
    policy = (Choice if discrete else Numbers)(env, args).to(args.device)
    folder = new_folder(args, provenance)
    console = Console()

    iterations = max(1, args.total_steps // (args.num_envs * args.num_steps))
    timesteps = iterations * args.num_steps  # skrl counts the steps of the batch
    agent = TruePPO(
        models={"policy": policy, "value": Value(env, args).to(args.device)},
        memory=RandomMemory(memory_size=args.num_steps, num_envs=args.num_envs, device=args.device),
        observation_space=env.observation_space,
        action_space=env.action_space,
        device=args.device,
        cfg={
            "rollouts": args.num_steps,
            "learning_epochs": args.epochs,
            "mini_batches": max(1, args.num_envs * args.num_steps // args.minibatch),
            "discount_factor": args.gamma,
            "gae_lambda": args.gae_lambda,
            "learning_rate": args.learning_rate,
            "learning_rate_scheduler": KLAdaptiveLR,
            "learning_rate_scheduler_kwargs": {"kl_threshold": args.target_kl},
            "entropy_loss_scale": args.entropy,
            "value_loss_scale": 0.5,
            "value_clip": 0.0,
            "time_limit_bootstrap": True,
            "experiment": {
                "directory": str(folder.parent),
                "experiment_name": folder.name,
                "write_interval": args.num_steps,
                "checkpoint_interval": 0,
            },
        },
    )
    cfg = {"timesteps": timesteps, "headless": True, "close_environment_at_exit": False, "disable_progressbar": None}
    trainer = SequentialTrainer(env=env, agents=agent, cfg=cfg)
    began = time.perf_counter()
    trainer.train()
    seconds, steps = time.perf_counter() - began, timesteps * args.num_envs
    agent.save(str(folder / "model.pt"))
    agent.writer.close()
    env.close()

    def trained(env: Any, observation: np.ndarray) -> Any:
        with torch.no_grad():
            action = policy.best(torch.from_numpy(observation)[None].to(args.device))[0].cpu()
        space = env.action_space
        return action.item() if discrete else np.clip(action.numpy(), space.low, space.high)

    return finish(
        args, folder, package, provenance, console, "skrl PPO", trained,
        seconds=seconds, steps=steps, model=folder / "model.pt",
    )  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
