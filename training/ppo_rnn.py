"""Recurrent PPO in one file: `python training/ppo_rnn.py --help`.

ppo.py with a GRU in the middle, for environments whose observation does not say all that matters. Read it from top to
bottom; what is not about memory is as in ppo.py. Three things are new:

- what the agent remembers is `hidden` [N, width], emptied in the rows where an episode ends;
- an update goes through whole sequences of some rows, from the memory that they had when the experience began;
- an episode that was cut off is worth what its last observation is worth *to one who remembers that episode*.

`--hide 1 3` shows zeros in place of the observation's entries 1 and 3, and `--no-memory` empties the memory in every
step: the same network without the one thing that it is for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from torch import Tensor, nn

from common import Run, RunArgs, action_count, observation_size


@dataclass
class Args(RunArgs):
    exp: str = "ppo_rnn"  # name of the experiment, a part of the run's folder name

    total_steps: int = 300_000  # environment steps, all rows together
    num_envs: int = 64  # rows of the batch
    num_steps: int = 32  # steps of every row between updates; gradients reach no further back
    epochs: int = 4  # passes over each batch of experience
    minibatch: int = 16  # rows an update; each brings its whole sequence
    learning_rate: float = 2e-3  # at the start; falls to zero along a line
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    clip: float = 0.2  # how far a probability may move before its gradient stops, as a ratio
    entropy: float = 0.01  # weight of the entropy bonus at the start; falls to zero along a line
    value_weight: float = 0.5  # weight of the value loss
    max_grad_norm: float = 0.5  # gradients are scaled down to this norm
    width: int = 64  # units of each layer and of the memory
    hide: tuple[int, ...] = ()  # entries of the observation that the agent does not see
    memory: bool = True  # whether anything is remembered from step to step


class Agent(nn.Module):
    """Policy and value behind one GRU. T steps of N rows are read at once; acting is T = 1.

    Observations are read as distances from their mean, in standard deviations, both of all that was seen so far: what
    changes from step to step is often small beside what an observation says, and here it is the change that matters.
    """

    def __init__(self, observations: int, actions: int, args: Args) -> None:
        super().__init__()
        seen = torch.ones(observations)
        seen[list(args.hide)] = 0
        self.register_buffer("seen", seen)
        self.register_buffer("count", torch.full((), 1e-4))  # so little that what comes decides
        self.register_buffer("mean", torch.zeros(observations))
        self.register_buffer("squares", torch.full((observations,), 1e-4))  # sum of squared distances from the mean
        self.width, self.memory = args.width, args.memory
        self.read = nn.Sequential(layer(observations, args.width), nn.Tanh())
        self.cell = nn.GRUCell(args.width, args.width)
        for name, weight in self.cell.named_parameters():
            nn.init.orthogonal_(weight) if "weight" in name else nn.init.zeros_(weight)
        self.policy, self.value = layer(args.width, actions, 0.01), layer(args.width, 1, 1.0)

    def empty(self, rows: int) -> Tensor:
        """The memory [N, width] at the start of an episode."""
        return self.seen.new_zeros(rows, self.width)

    def forward(self, observation: Tensor, hidden: Tensor, begins: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read T steps in their order.

        Args:
            observation: [T, N, D].
            hidden: the memory before the first of them [N, width].
            begins: [T, N], true where an observation is the first of an episode: nothing before it is remembered.

        Returns:
            Logits of the policy [T, N, A], values [T, N], the memory after the last step [N, width].
        """
        shown = (observation - self.mean) / (self.squares / self.count).sqrt()
        read, remembered = self.read(shown.clamp(-10, 10) * self.seen), []
        for now, first in zip(read, begins, strict=True):
            kept = hidden * ~first[:, None] if self.memory else torch.zeros_like(hidden)
            hidden = self.cell(now, kept)
            remembered.append(hidden)
        known = torch.stack(remembered)
        return self.policy(known), self.value(known).squeeze(-1), hidden

    def get_used_to(self, observation: Tensor) -> None:
        """Count these observations [T, N, D] into mean and standard deviation."""
        count, mean = observation[..., 0].numel(), observation.mean((0, 1))
        total, moved = self.count + count, mean - self.mean
        self.squares += (observation - mean).square().sum((0, 1)) + moved.square() * self.count * count / total
        self.mean += moved * count / total
        self.count.copy_(total)


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds (the folder alone after `stop_after`)."""
    # --- the gate, the environment, the agent ---
    run = Run(args, "recurrent PPO" if args.memory else "PPO without memory")
    args = run.args
    envs = gym.make_vec(
        args.env_id,
        num_envs=args.num_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode="same_step",
        device=args.device,
        compile=args.compile,
        params=args.params,
    )
    numbers = observation_size(envs.single_observation_space, "ppo_rnn.py")
    if not all(0 <= entry < numbers for entry in args.hide):
        raise SystemExit(f"--hide names entries of the observation, 0 to {numbers - 1}")
    agent = Agent(numbers, action_count(envs.single_action_space, "ppo_rnn.py"), args).to(args.device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5, fused=True)
    generator = torch.Generator(args.device).manual_seed(args.seed)

    # --- a new run, or one taken up where its last checkpoint left it, to the bit ---
    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    if run.saved is None:
        observation, _ = envs.reset(seed=args.seed << 20)  # runs share no row's seed
        hidden = agent.empty(args.num_envs)
        begins = torch.ones(args.num_envs, dtype=torch.bool, device=args.device)
    else:
        agent.load_state_dict(run.saved["agent"])
        optimizer.load_state_dict(run.saved["optimizer"])
        generator.set_state(run.saved["generator"])
        envs.load_state_dict(run.saved["envs"])
        observation, hidden, begins = (run.saved[name].to(args.device) for name in ("observation", "hidden", "begins"))

    # --- train ---
    for iteration in run.iterations(iterations, batch):
        began = time.perf_counter()
        left = 1 - iteration / iterations
        optimizer.param_groups[0]["lr"] = args.learning_rate * left

        # Experience: `num_steps` of every row, and the memory it began with.
        steps: list[tuple[Tensor, ...]] = []
        episodes = torch.zeros(3, device=args.device)  # how many ended, sum of returns, sum of lengths
        hidden_before = hidden
        with torch.no_grad():
            for _ in range(args.num_steps):
                policy, value, hidden = agent(observation[None], hidden, begins[None])
                policy, value = policy[0], value[0]
                # Of exponential waiting times with these rates, each is the first with its probability.
                action = (policy.softmax(-1) / torch.empty_like(policy).exponential_(generator=generator)).argmax(-1)
                log_prob = policy.log_softmax(-1).gather(-1, action[:, None]).squeeze(-1)
                following, reward, terminated, truncated, info = envs.step(action)
                # An episode that was cut off would have gone on: what its last observation is worth, after
                # all that went before it, belongs to its return.
                cut = truncated & ~terminated
                if cut.any():
                    no = torch.zeros_like(begins[cut])
                    reward[cut] += args.gamma * agent(info["final_obs"][cut][None], hidden[cut], no[None])[1][0]
                done = terminated | truncated
                steps.append((observation, begins, action, log_prob, value, reward, done))
                ended = info["episode"]
                episodes += torch.stack([info["_episode"].sum(), ended["r"].sum(), ended["l"].sum()])
                observation, begins = following, done
            next_value = agent(observation[None], hidden, begins[None])[1][0]
        observations, firsts, actions, log_probs, values, rewards, dones = map(torch.stack, zip(*steps, strict=True))

        # Advantages, backwards in time (GAE).
        advantages = torch.empty_like(values)
        advantage = torch.zeros_like(next_value)
        for t in reversed(range(args.num_steps)):
            goes_on = (~dones[t]).float()
            delta = rewards[t] + args.gamma * goes_on * next_value - values[t]
            advantage = delta + args.gamma * args.gae_lambda * goes_on * advantage
            advantages[t], next_value = advantage, values[t]
        targets = advantages + values
        # Policy and value share the memory. Values far from 1 would have all of it, so their errors are taken small.
        size = targets.var().clamp(min=1)

        # Updates. Rows are drawn, time stays whole: [num_steps, minibatch].
        for _ in range(args.epochs):
            order = torch.randperm(args.num_envs, generator=generator, device=args.device)
            for rows in order.split(args.minibatch):
                policy, value, _ = agent(observations[:, rows], hidden_before[rows], firsts[:, rows])
                logs = policy.log_softmax(-1)
                log_now = logs.gather(-1, actions[:, rows, None]).squeeze(-1)
                spread = -(logs.exp() * logs).sum(-1).mean()
                ratio = (log_now - log_probs[:, rows]).exp()
                better = advantages[:, rows]
                better = (better - better.mean()) / (better.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(ratio * better, clipped * better).mean()
                value_loss = 0.5 * (value - targets[:, rows]).square().mean() / size
                loss = policy_loss + args.value_weight * value_loss - args.entropy * left * spread
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        agent.get_used_to(observations)  # now, since an update must see what the experience saw

        # What happened, in numbers.
        shown = {
            "loss/policy": policy_loss.item(),
            "loss/value": value_loss.item(),
            "loss/entropy": spread.item(),
            "loss/old_kl": ((ratio - 1) - ratio.log()).mean().item(),
            "loss/explained_variance": 1 - ((targets - values).var() / targets.var()).item(),
        }
        run.report(time.perf_counter() - began, episodes.tolist(), shown)
        if run.due:
            run.save(
                agent=agent.state_dict(),
                optimizer=optimizer.state_dict(),
                generator=generator.get_state(),
                envs=envs.state_dict(),
                observation=observation,
                hidden=hidden,
                begins=begins,
            )
    envs.close()

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    remembered = agent.empty(1)

    def trained(env: Any, observation: np.ndarray) -> int:
        nonlocal remembered
        first = torch.tensor([[env.unwrapped.runner.t == 0]], device=args.device)
        with torch.no_grad():
            policy, _, remembered = agent(torch.from_numpy(observation)[None, None].to(args.device), remembered, first)
        return int(policy.argmax())

    return run.finish(trained)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
