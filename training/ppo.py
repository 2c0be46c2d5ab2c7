"""PPO in one file, torch from end to end: `python training/ppo.py --help`.

Read it from top to bottom: arguments, network, training. It trains on the batched twin, which the gate lets through
only with a fresh report, and measures what it learned on the reference twin, beside the package's scripted policies and
in the same episodes. What every script does alike (folder, checkpoints, measuring, drawing) is in training/common.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from torch import Tensor, nn

from common import Run, RunArgs


@dataclass
class Args(RunArgs):
    exp: str = "ppo"  # name of the experiment, a part of the run's folder name
    compile_policy: bool = False  # the network through torch.compile as well

    total_steps: int = 1_500_000  # environment steps, all rows together
    num_envs: int = 1024  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 3  # passes over each batch of experience
    minibatch: int = 4096  # transitions an update
    learning_rate: float = 2e-3  # at the start; falls to zero along a line
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    clip: float = 0.2  # how far a probability may move before its gradient stops, as a ratio
    entropy: float = 0.01  # weight of the entropy bonus at the start; falls to zero along a line
    value_weight: float = 0.5  # weight of the value loss
    max_grad_norm: float = 0.5  # gradients are scaled down to this norm
    width: int = 128  # units of the hidden layers
    items: tuple[int, int] | None = None  # K and M of an observation that ends in items (see ITEMS)


# Observations that end in K items of M numbers each, whose order means nothing: (K, M). The first number of
# all items comes first, then the second of all, and so on.
ITEMS = {"simulacrum/forager-v0": (6, 3)}
WAVES = (0.5, 1.0, 2.0, 4.0)  # times pi


class Reader(nn.Module):
    """Observations [N, D] to features [N, `size`].

    Each item passes through the same two layers, and what comes out is pooled, so a network need not learn anew
    for each place in the list what an item means. An item's numbers are also shown as waves of a few lengths:
    what matters are small differences ("one cell to the left"), which a plain layer is slow to see. An item that
    is all zeros is absent. Without items the features are the observation.
    """

    def __init__(self, observations: int, items: tuple[int, int], width: int) -> None:
        super().__init__()
        self.items, self.own = items, observations - items[0] * items[1]
        self.size = self.own + (2 * width if items[0] else 0)
        if items[0]:
            self.see_own = layer(self.own, width)
            self.see_item = layer(items[1] * (1 + 2 * len(WAVES)), width, 1.0)
            self.mix = layer(width, width)

    def forward(self, observation: Tensor) -> Tensor:
        own, rest = observation[:, : self.own], observation[:, self.own :]
        if not self.items[0]:
            return observation
        items = rest.unflatten(1, self.items[::-1]).transpose(1, 2)  # [N, K, M]
        present = (items != 0).any(dim=-1, keepdim=True)  # [N, K, 1]
        waves = torch.cat([length * math.pi * items for length in WAVES], dim=-1)
        hidden = self.see_item(torch.cat([items, waves.sin(), waves.cos()], dim=-1))
        hidden = torch.relu(hidden + self.see_own(own)[:, None])
        hidden = torch.relu(self.mix(hidden)) * present  # [N, K, width]
        return torch.cat([own, hidden.amax(dim=1), 2 * hidden.mean(dim=1)], dim=-1)


class Agent(nn.Module):
    """Policy and value in one network; `forward` gives (policy parameters [N, A], value [N])."""

    def __init__(self, observations: Any, actions: Any, items: tuple[int, int], width: int) -> None:
        super().__init__()
        if not isinstance(observations, gym.spaces.Box) or len(observations.shape) != 1:
            raise SystemExit(f"ppo.py reads observations that are one vector, not {observations}")
        if not isinstance(actions, (gym.spaces.Discrete, gym.spaces.Box)) or len(actions.shape) > 1:
            raise SystemExit(f"ppo.py acts in Discrete spaces and vector Boxes, not {actions}")
        self.discrete = isinstance(actions, gym.spaces.Discrete)
        outputs = int(actions.n) if self.discrete else actions.shape[0]
        self.read = Reader(observations.shape[0], items, width // 4)
        self.trunk = nn.Sequential(layer(self.read.size, width), nn.ReLU(), layer(width, width), nn.ReLU())
        self.policy, self.value = layer(width, outputs, 0.01), layer(width, 1, 1.0)
        if not self.discrete:
            if not actions.is_bounded():
                raise SystemExit(f"ppo.py scales actions to their bounds, and {actions} has none")
            self.log_std = nn.Parameter(torch.full((outputs,), -0.5))
            self.register_buffer("centre", torch.from_numpy((actions.high + actions.low) / 2))
            self.register_buffer("reach", torch.from_numpy((actions.high - actions.low) / 2))

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.trunk(self.read(observation))
        return self.policy(hidden), self.value(hidden).squeeze(-1)

    def sample(self, policy: Tensor, generator: torch.Generator) -> Tensor:
        if self.discrete:  # of exponential waiting times with these rates, each is the first with its probability
            return (policy.softmax(-1) / torch.empty_like(policy).exponential_(generator=generator)).argmax(-1)
        noise = torch.randn(policy.shape, generator=generator, device=policy.device)
        return policy + self.log_std.exp() * noise

    def log_prob_and_entropy(self, policy: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        if self.discrete:
            logs = policy.log_softmax(-1)
            return logs.gather(-1, action[:, None]).squeeze(-1), -(logs.exp() * logs).sum(-1)
        normal = torch.distributions.Normal(policy, self.log_std.exp(), validate_args=False)
        return normal.log_prob(action).sum(-1), normal.entropy().sum(-1)

    def best(self, policy: Tensor) -> Tensor:
        return policy.argmax(-1) if self.discrete else policy

    def for_env(self, action: Tensor) -> Tensor:
        """Box actions are learned around 0 with a scale of 1; this puts them between the space's bounds."""
        return action if self.discrete else self.centre + self.reach * action.clamp(-1, 1)


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds (the folder alone after `stop_after`)."""
    # --- the gate, the environment, the agent ---
    run = Run(args, "PPO")
    args = run.args
    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode="same_step",
        device=args.device,
        compile=args.compile,
    )
    items = args.items or ITEMS.get(args.env_id, (0, 0))
    agent = Agent(envs.single_observation_space, envs.single_action_space, items, args.width).to(args.device)
    network = torch.compile(agent) if args.compile_policy else agent
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    generator = torch.Generator(args.device).manual_seed(args.seed)

    # --- a new run, or one taken up where its last checkpoint left it, to the bit ---
    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    if run.saved is None:
        observation, _ = envs.reset(seed=args.seed << 20)  # runs share no row's seed
    else:
        agent.load_state_dict(run.saved["agent"])
        optimizer.load_state_dict(run.saved["optimizer"])
        generator.set_state(run.saved["generator"])
        envs.load_state_dict(run.saved["envs"])
        observation = run.saved["observation"].to(args.device)

    # --- train ---
    for iteration in run.iterations(iterations, batch):
        began = time.perf_counter()
        left = 1 - iteration / iterations
        optimizer.param_groups[0]["lr"] = args.learning_rate * left

        # Experience: `num_steps` of every row. The environment's tensors go straight into the list; it
        # never writes into one that it has given out.
        steps: list[tuple[Tensor, ...]] = []
        episodes = torch.zeros(3, device=args.device)  # how many ended, sum of returns, sum of lengths
        with torch.no_grad():
            policy, value = network(observation)
            for _ in range(args.num_steps):
                action = agent.sample(policy, generator)
                log_prob, _ = agent.log_prob_and_entropy(policy, action)
                following, reward, terminated, truncated, info = envs.step(agent.for_env(action))
                # An episode that was cut off would have gone on: what its last observation is worth
                # belongs to its return. (SAME_STEP: `following` already shows the next episode there.)
                # An episode that terminated is worth what it got.
                cut = truncated & ~terminated
                if cut.any():
                    reward[cut] += args.gamma * network(info["final_obs"][cut])[1]
                steps.append((observation, action, log_prob, value, reward, terminated | truncated))
                ended = info["episode"]
                episodes += torch.stack([info["_episode"].sum(), ended["r"].sum(), ended["l"].sum()])
                observation = following
                policy, value = network(observation)
        observations, actions, log_probs, values, rewards, dones = map(torch.stack, zip(*steps, strict=True))

        # Advantages, backwards in time (GAE).
        advantages = torch.empty_like(values)
        advantage = torch.zeros_like(value)
        next_value = value
        for t in reversed(range(args.num_steps)):
            goes_on = (~dones[t]).float()
            delta = rewards[t] + args.gamma * goes_on * next_value - values[t]
            advantage = delta + args.gamma * args.gae_lambda * goes_on * advantage
            advantages[t], next_value = advantage, values[t]
        targets = advantages + values

        # Updates. Time and rows become one dimension [batch].
        old = [part.flatten(0, 1) for part in (observations, actions, log_probs, advantages, targets)]
        for _ in range(args.epochs):
            order = torch.randperm(batch, generator=generator, device=args.device)
            for chosen in order.split(args.minibatch):
                seen, acted, log_before, better, target = (part[chosen] for part in old)
                policy, value = network(seen)
                log_now, spread = agent.log_prob_and_entropy(policy, acted)
                ratio = (log_now - log_before).exp()
                better = (better - better.mean()) / (better.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(ratio * better, clipped * better).mean()
                value_loss = 0.5 * (value - target).square().mean()
                loss = policy_loss + args.value_weight * value_loss - args.entropy * left * spread.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        # What happened, in numbers.
        numbers = {
            "loss/policy": policy_loss.item(),
            "loss/value": value_loss.item(),
            "loss/entropy": spread.mean().item(),
            "loss/old_kl": ((ratio - 1) - ratio.log()).mean().item(),
            "loss/explained_variance": 1 - ((targets - values).var() / targets.var()).item(),
        }
        run.report(time.perf_counter() - began, episodes.tolist(), numbers)
        run.save(
            agent=agent.state_dict(),
            optimizer=optimizer.state_dict(),
            generator=generator.get_state(),
            envs=envs.state_dict(),
            observation=observation,
        )
    envs.close()

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    def trained(env: Any, observation: np.ndarray) -> Any:
        with torch.no_grad():
            policy, _ = agent(torch.from_numpy(observation)[None].to(args.device))
        action = agent.for_env(agent.best(policy))[0]
        return action.item() if agent.discrete else action.cpu().numpy()

    return run.finish(trained)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
