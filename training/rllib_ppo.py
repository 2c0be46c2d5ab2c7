"""RLlib's PPO on the same environment, through the adapter: `python training/rllib_ppo.py --help`.

The new API stack, with env runners in this process or in `--num-env-runners` others, on this machine or on those of a
Ray cluster that is already up (`RAY_ADDRESS`). Measuring and the table are those of ppo.py.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from common import EnvArgs, EvalArgs, draw_curve, gate, measure, new_folder, summary, table, write_results
from common.cluster import started
from common.measure import scripted_policies
from simulacrum.adapters.rllib import configure_rllib


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "rllib_ppo"  # name of the experiment, a part of the run's folder name
    env_id: str = "simulacrum/cartpole-v1"  # id of a registered environment, with observations that are one vector

    total_steps: int = 100_000  # environment steps, all env runners together
    num_env_runners: int = 0  # processes that sample; 0: this one does
    num_envs: int = 16  # rows of each env runner; RLlib goes through them one by one
    batch: int = 4096  # steps between updates
    epochs: int = 8  # passes over each batch of experience
    minibatch: int = 512  # transitions an update
    learning_rate: float = 1e-3  # constant
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    entropy: float = 0.0  # weight of the entropy bonus
    width: int = 64  # units of the hidden layers


def configured(args: Args) -> PPOConfig:
    """RLlib's settings for a run."""
    config = configure_rllib(PPOConfig(), args.env_id, args.num_envs, compile=args.compile)
    # A runner that cannot be built says why, instead of being started anew until none is left.
    config.fault_tolerance(restart_failed_env_runners=False)
    config.env_runners(num_env_runners=args.num_env_runners, rollout_fragment_length="auto")
    config.learners(num_learners=0)  # this process learns
    config.debugging(seed=args.seed * 1000, log_level="ERROR")  # runner w takes seed + w: no two runs share one
    config.training(
        train_batch_size_per_learner=args.batch,
        num_epochs=args.epochs,
        minibatch_size=args.minibatch,
        lr=args.learning_rate,
        gamma=args.gamma,
        lambda_=args.gae_lambda,
        entropy_coeff=args.entropy,
        use_kl_loss=False,
        vf_clip_param=float("inf"),  # the returns are hundreds, and a clipped value would learn nothing
        grad_clip=0.5,
    )
    config.rl_module(
        model_config=DefaultModelConfig(
            fcnet_hiddens=[args.width, args.width], fcnet_activation="relu", vf_share_layers=False
        )
    )
    return config


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    package, provenance = gate(args)
    config = configured(args)
    folder = new_folder(args, provenance)
    console = Console()
    with started(max(1, args.num_env_runners)), contextlib.ExitStack() as at_the_end:
        algorithm = config.build_algo()
        at_the_end.callback(algorithm.stop)
        curve, seconds = train(args, algorithm, SummaryWriter(str(folder)), console)
        algorithm.save_to_path(str((folder / "model").resolve()))
        module = algorithm.get_module()

    def trained(env: Any, observation: np.ndarray) -> Any:
        with torch.no_grad():
            out = module.forward_inference({Columns.OBS: torch.from_numpy(observation)[None]})
        best = module.get_inference_action_dist_cls().from_logits(out[Columns.ACTION_DIST_INPUTS]).to_deterministic()
        return best.sample()[0].numpy()

    policies = {"RLlib PPO, trained": trained, **scripted_policies(package)}
    measured = {name: measure(args, act) for name, act in policies.items()}
    console.print(table(args, measured))
    draw_curve(folder / "curve.png", args, curve, measured, "RLlib PPO")
    speed = curve[-1][0] / seconds
    results = {
        "seconds": seconds,
        "steps_per_second": speed,
        "curve": curve,
        "reference": {name: summary(*numbers) for name, numbers in measured.items()},
    }
    console.print(f"trained in {seconds:.0f} s, {speed:,.0f} steps/s with the updates", highlight=False)
    console.print(f"model: {folder / 'model'}\nTensorBoard: tensorboard --logdir {args.runs}", soft_wrap=True)
    return write_results(folder, args, provenance, results)


def train(args: Args, algorithm: Any, writer: SummaryWriter, console: Console) -> tuple[list[list[float]], float]:
    """Iterations until `total_steps`; gives points (step, seconds, mean return, mean length, episodes), and seconds."""
    curve: list[list[float]] = []
    began, shown, step = time.perf_counter(), 0, 0
    while step < args.total_steps:
        result = algorithm.train()
        sampled, seconds = result["env_runners"], time.perf_counter() - began
        step = int(sampled["num_env_steps_sampled_lifetime"])
        if sampled.get("num_episodes", 0):
            mean, length = float(sampled["episode_return_mean"]), float(sampled["episode_len_mean"])
            curve.append([step, seconds, mean, length, float(sampled["num_episodes"])])
            writer.add_scalar("episode/return", mean, step)
            writer.add_scalar("episode/length", length, step)
        for key in ("policy_loss", "vf_loss", "entropy"):
            writer.add_scalar(f"loss/{key}", float(result["learners"]["default_policy"][key]), step)
        if curve and (step - shown >= args.total_steps / 10 or step >= args.total_steps):
            shown = step
            line = f"{step:>12,} steps  {seconds:6.1f} s  return {curve[-1][2]:6.2f}  {step / seconds:9,.0f} steps/s"
            console.print(line, highlight=False)
    writer.close()
    return curve, time.perf_counter() - began


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
