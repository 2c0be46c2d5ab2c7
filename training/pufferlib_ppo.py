"""PufferLib's PPO on the same environment, through the adapter: `python training/pufferlib_ppo.py --help`.

PufferLib's trainer collects and learns; its dashboard is left out. Two habits of its are worth knowing: it cuts rewards
to -1..1, and it knows terminations alone, so the adapter reports what was cut off as terminated.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from common import (
    EnvArgs,
    EvalArgs,
    gate,
    new_folder,
    observation_size,
)
from common.library import finish
from simulacrum.adapters.pufferlib import make_pufferlib  # before the library itself, whose import leaves a link behind

import pufferlib.pufferl  # isort: skip
from pufferlib.models import Default  # isort: skip


@dataclass
class Args(EvalArgs, EnvArgs):
    env_id: str = "simulacrum/cartpole-v1"  # id of a registered environment
    exp: str = "pufferlib_ppo"  # name of the experiment, a part of the run's folder name

    total_steps: int = 500_000  # environment steps, all rows together
    num_envs: int = 64  # rows of the batch
    num_steps: int = 64  # steps of every row between updates
    epochs: int = 4  # passes over each batch of experience
    minibatch: int = 1024  # transitions an update, a multiple of `num_steps`
    learning_rate: float = 3e-3  # at the start; falls to zero along half a cosine
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    clip: float = 0.2  # how far a probability may move before its gradient stops, as a ratio
    entropy: float = 0.005  # weight of the entropy bonus
    max_grad_norm: float = 0.5  # gradients are scaled down to this norm
    width: int = 128  # units of the hidden layer


class Trainer(pufferlib.pufferl.PuffeRL):
    """Without the dashboard, which clears the screen."""

    def print_dashboard(self, *args: Any, **kwargs: Any) -> None:
        pass


class Log:
    """What PufferLib takes for a logger: its numbers go to TensorBoard."""

    run_id = "pufferlib"

    def __init__(self, writer: SummaryWriter) -> None:
        self.writer = writer

    def log(self, logs: dict[str, Any], step: int) -> None:
        for name, number in logs.items():
            self.writer.add_scalar(name, float(number), step)


def config(args: Args, folder: Any, steps: int) -> dict[str, Any]:
    """The trainer's settings; those that are not arguments are its plainest, such as every segment being as likely."""
    return {
        "env": args.env_id, "name": "simulacrum", "project": "simulacrum", "data_dir": str(folder),
        "seed": args.seed, "device": args.device, "torch_deterministic": True, "cpu_offload": False,
        "compile": False, "compile_mode": "default", "compile_fullgraph": True, "precision": "float32",
        "use_rnn": False, "checkpoint_interval": 1 << 30, "total_timesteps": steps,
        "batch_size": args.num_envs * args.num_steps, "bptt_horizon": args.num_steps,
        "minibatch_size": args.minibatch, "max_minibatch_size": args.minibatch, "update_epochs": args.epochs,
        "optimizer": "adam", "learning_rate": args.learning_rate, "anneal_lr": True,
        "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_eps": 1e-5, "max_grad_norm": args.max_grad_norm,
        "gamma": args.gamma, "gae_lambda": args.gae_lambda, "ent_coef": args.entropy,
        "clip_coef": args.clip, "vf_coef": 0.5, "vf_clip_coef": args.clip,
        "vtrace_rho_clip": 1.0, "vtrace_c_clip": 1.0, "prio_alpha": 0.0, "prio_beta0": 1.0,
    }  # fmt: skip


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    package, provenance = gate(args)
    options = {"device": args.device, "compile": args.compile, "truncated_is_terminal": True}
    envs = make_pufferlib(args.env_id, args.num_envs, **options)
    observation_size(envs.single_observation_space, "pufferlib_ppo.py")
    folder = new_folder(args, provenance)
    console, writer = Console(), SummaryWriter(str(folder))

    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    policy = Default(envs, hidden_size=args.width).to(args.device)
    trainer = Trainer(config(args, folder, iterations * batch), envs, policy, Log(writer))
    began = time.perf_counter()
    for iteration in range(1, iterations + 1):
        ended = np.mean(trainer.evaluate().get("episode_return", [np.nan]))  # the iteration's, and older ones unlogged
        trainer.train()
        if iteration % max(1, iterations // 10) == 0:
            step, seconds = trainer.global_step, time.perf_counter() - began
            shown = f"return {ended:6.2f}  {step / seconds:9,.0f} steps/s"
            console.print(f"{step:>12,} steps  {seconds:6.1f} s  {shown}", highlight=False)
    seconds, steps = time.perf_counter() - began, trainer.global_step
    model = trainer.close()  # the environment as well
    writer.close()

    def trained(env: Any, observation: np.ndarray) -> Any:
        with torch.no_grad():
            wanted, _ = policy.forward_eval(torch.from_numpy(observation)[None].to(args.device))
        if isinstance(wanted, torch.distributions.Normal):
            space = envs.single_action_space
            return np.clip(wanted.mean[0].cpu().numpy(), space.low, space.high)
        if isinstance(wanted, tuple):
            return np.array([int(one[0].argmax()) for one in wanted])
        return int(wanted[0].argmax())

    return finish(
        args, folder, package, provenance, console, "PufferLib PPO", trained,
        seconds=seconds, steps=steps, model=model,
    )  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
