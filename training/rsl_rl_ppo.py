"""rsl_rl's PPO on an environment with continuous actions: `python training/rsl_rl_ppo.py --help`.

What ppo.py spells out, the library's runner does here, torch from end to end. It moves the clocks of the rows at the
start, so that their episodes do not all end together.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from common import (
    EnvArgs,
    EvalArgs,
    gate,
    new_folder,
)
from common.library import finish
from simulacrum.adapters.rsl_rl import GROUP, make_rsl_rl


@dataclass
class Args(EvalArgs, EnvArgs):
    env_id: str = "simulacrum/pendulum-v1"  # id of a registered environment with continuous actions
    exp: str = "rsl_rl_ppo"  # name of the experiment, a part of the run's folder name

    total_steps: int = 1_000_000  # environment steps, all rows together
    num_envs: int = 256  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 8  # passes over each batch of experience
    minibatch: int = 2048  # transitions an update
    learning_rate: float = 1e-3  # at the start; the library adapts it to how far the policy moves
    target_kl: float = 0.01  # how far it should move in an update
    gamma: float = 0.95  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    entropy: float = 0.0  # weight of the entropy bonus
    width: int = 64  # units of the hidden layers
    normalize: bool = True  # observations, by their running mean and deviation
    random_clocks: bool = True  # begin with the rows somewhere in their episodes


def configuration(args: Args, groups: list[str]) -> dict[str, Any]:
    """What the library's runner is told."""
    net = {
        "class_name": "MLPModel",
        "hidden_dims": [args.width, args.width],
        "activation": "elu",
        "obs_normalization": args.normalize,
    }
    return {
        "num_steps_per_env": args.num_steps,
        "save_interval": 10**9,  # the last one is saved in any case
        "obs_groups": {"actor": groups, "critic": groups},
        "actor": {**net, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}},
        "critic": net.copy(),
        "algorithm": {
            "class_name": "PPO",
            "num_learning_epochs": args.epochs,
            "num_mini_batches": max(1, args.num_envs * args.num_steps // args.minibatch),
            "learning_rate": args.learning_rate,
            "schedule": "adaptive",
            "desired_kl": args.target_kl,
            "gamma": args.gamma,
            "lam": args.gae_lambda,
            "entropy_coef": args.entropy,
        },
    }


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    package, provenance = gate(args)
    seed = args.seed << 20  # runs share no row's seed
    env = make_rsl_rl(args.env_id, args.num_envs, seed=seed, device=args.device, compile=args.compile)
    folder = new_folder(args, provenance)
    console = Console()

    groups = list(env.get_observations().keys())
    runner = OnPolicyRunner(env, configuration(args, groups), str(folder), device=args.device)
    runner.logger.git_status_repos.clear()  # environment.json says what the run is about
    iterations = max(1, args.total_steps // (args.num_envs * args.num_steps))
    began = time.perf_counter()
    runner.learn(iterations, init_at_random_ep_len=args.random_clocks)
    seconds, steps = time.perf_counter() - began, iterations * args.num_envs * args.num_steps
    runner.logger.writer.close()
    space = env.env.single_action_space
    env.close()

    policy = runner.get_inference_policy(device="cpu")

    def trained(env: Any, observation: Any) -> Any:
        parts = observation if isinstance(observation, dict) else {GROUP: observation}
        seen = {name: torch.as_tensor(np.asarray(part, np.float32)).reshape(1, -1) for name, part in parts.items()}
        with torch.no_grad():
            action = policy(TensorDict(seen, [1]))[0].reshape(space.shape)
        return np.clip(action.numpy(), space.low, space.high)

    model = folder / f"model_{iterations - 1}.pt"
    return finish(
        args, folder, package, provenance, console, "rsl_rl PPO", trained,
        seconds=seconds, steps=steps, model=model,
    )  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
