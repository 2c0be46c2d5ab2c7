"""PPO from TorchRL's parts on the same environment, through the adapter: `python training/torchrl_ppo.py --help`.

The library collects, estimates advantages and computes the loss; the loop over them is here. How observations are read
is ppo.py's. TorchRL keeps the last observation of an episode, so what was cut off is bootstrapped from the true one.
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
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter
from torchrl.collectors import Collector
from torchrl.envs import RewardSum, StepCounter, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import NormalParamExtractor, ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from common import (
    EnvArgs,
    EvalArgs,
    gate,
    new_folder,
    observation_size,
)
from common.library import finish
from ppo import ITEMS, Reader, layer
from simulacrum.adapters.torchrl import TorchRLEnv, make_torchrl


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "torchrl_ppo"  # name of the experiment, a part of the run's folder name

    total_steps: int = 1_000_000  # environment steps, all rows together
    num_envs: int = 512  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 4  # passes over each batch of experience
    minibatch: int = 2048  # transitions an update
    learning_rate: float = 1e-3  # at the start; falls to zero along a line
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    clip: float = 0.2  # how far a probability may move before its gradient stops, as a ratio
    entropy: float = 0.005  # weight of the entropy bonus
    max_grad_norm: float = 0.5  # gradients are scaled down to this norm
    width: int = 128  # units of the hidden layers
    items: tuple[int, int] | None = None  # K and M of an observation that ends in items (see ITEMS in ppo.py)


class Network(nn.Module):
    """ppo.py's `Reader` and two layers: observations [..., D] to [..., outputs]."""

    def __init__(self, inputs: int, outputs: int, items: tuple[int, int], width: int, gain: float) -> None:
        super().__init__()
        self.read = Reader(inputs, items, width // 4)
        self.body = nn.Sequential(layer(self.read.size, width), nn.ReLU(), layer(width, width), nn.ReLU())
        self.head = layer(width, outputs, gain)

    def forward(self, observation: Tensor) -> Tensor:
        flat = observation.reshape(-1, observation.shape[-1])
        return self.head(self.body(self.read(flat))).unflatten(0, observation.shape[:-1])


def networks(env: TorchRLEnv, args: Args) -> tuple[ProbabilisticActor, ValueOperator]:
    """(policy, value) for the environment's spaces."""
    inputs = observation_size(env.env.single_observation_space, "torchrl_ppo.py")
    actions, items = env.env.single_action_space, args.items or ITEMS.get(args.env_id, (0, 0))
    more: dict[str, Any] = {"spec": env.full_action_spec_unbatched, "return_log_prob": True}
    if isinstance(actions, gym.spaces.Discrete):
        net = Network(inputs, int(actions.n), items, args.width, 0.01)
        body = TensorDictModule(net, ["observation"], ["logits"])
        policy = ProbabilisticActor(body, ["logits"], distribution_class=torch.distributions.Categorical, **more)
    elif isinstance(actions, gym.spaces.Box) and len(actions.shape) == 1 and actions.is_bounded():
        net = Network(inputs, 2 * actions.shape[0], items, args.width, 0.01)
        split = TensorDictModule(NormalParamExtractor(), ["both"], ["loc", "scale"])
        body = TensorDictSequential(TensorDictModule(net, ["observation"], ["both"]), split)
        bounds = {side: torch.from_numpy(getattr(actions, side)).to(args.device) for side in ("low", "high")}
        more["distribution_kwargs"] = bounds
        policy = ProbabilisticActor(body, ["loc", "scale"], distribution_class=TanhNormal, **more)
    else:
        raise SystemExit(f"torchrl_ppo.py acts in Discrete spaces and bounded vector Boxes, not {actions}")
    value = ValueOperator(Network(inputs, 1, items, args.width, 1.0), in_keys=["observation"])
    return policy.to(args.device), value.to(args.device)


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    package, provenance = gate(args)
    base = make_torchrl(args.env_id, args.num_envs, device=args.device, compile=args.compile)
    base.set_seed(args.seed << 20)  # runs share no row's seed
    policy, value = networks(base, args)
    env = TransformedEnv(base)
    env.append_transform(RewardSum())
    env.append_transform(StepCounter())
    folder = new_folder(args, provenance)
    console, writer = Console(), SummaryWriter(str(folder))

    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    size = {"frames_per_batch": batch, "total_frames": iterations * batch}
    collector = Collector(env, policy, **size, device=args.device, auto_register_policy_transforms=False)
    advantages = GAE(gamma=args.gamma, lmbda=args.gae_lambda, value_network=value, average_gae=True)
    loss_of = ClipPPOLoss(policy, value, clip_epsilon=args.clip, entropy_coeff=args.entropy, critic_coeff=0.5)
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=args.learning_rate, eps=1e-5)
    began = time.perf_counter()
    for iteration, data in enumerate(collector):  # [rows, steps]
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - iteration / iterations)
        with torch.no_grad():
            advantages(data)
        flat = data.reshape(-1)
        for _ in range(args.epochs):
            for chosen in torch.randperm(batch, device=args.device).split(args.minibatch):
                losses = loss_of(flat[chosen])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), args.max_grad_norm)
                optimizer.step()

        step, seconds = (iteration + 1) * batch, time.perf_counter() - began
        ended = data["next", "done"]
        numbers = {f"loss/{name}": losses[f"loss_{name}"].item() for name in ("objective", "critic", "entropy")}
        if ended.any():
            numbers["episode/return"] = data["next", "episode_reward"][ended].mean().item()
            numbers["episode/length"] = data["next", "step_count"][ended].float().mean().item()
        for name, number in numbers.items():
            writer.add_scalar(name, number, step)
        if (iteration + 1) % max(1, iterations // 10) == 0:
            shown = f"return {numbers.get('episode/return', float('nan')):6.2f}  {step / seconds:9,.0f} steps/s"
            console.print(f"{step:>12,} steps  {seconds:6.1f} s  {shown}", highlight=False)
    seconds, steps = time.perf_counter() - began, iterations * batch
    collector.shutdown()  # closes the environment
    writer.close()
    torch.save({"policy": policy.state_dict(), "value": value.state_dict()}, folder / "model.pt")

    offset = int(getattr(base.env.single_action_space, "start", 0))

    def trained(env: Any, observation: np.ndarray) -> Any:
        seen = TensorDict({"observation": torch.from_numpy(observation)[None].to(args.device)}, [1])
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            action = policy(seen)["action"][0].cpu()
        return action.numpy() if action.is_floating_point() else action.item() + offset

    return finish(
        args, folder, package, provenance, console, "TorchRL PPO", trained,
        seconds=seconds, steps=steps, model=folder / "model.pt",
    )  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
