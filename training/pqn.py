"""PQN in one file: `python training/pqn.py --help`.

Q-learning as on-policy methods do it (Gallici et al. 2024, "Simplifying Deep Temporal Difference Learning"): many rows
in place of a replay buffer, layer normalisation in place of a target network, and Q(lambda) returns. Read it from top
to bottom: arguments, network, training. What every script does alike is in training/common.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import torch
import tyro
from torch import Tensor, nn

from common import Run, RunArgs, Vector, action_count, batch_of_one


@dataclass
class Args(RunArgs):
    exp: str = "pqn"  # name of the experiment, a part of the run's folder name

    total_steps: int = 300_000  # environment steps, all rows together
    num_envs: int = 64  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 4  # passes over each batch of experience
    minibatch: int = 256  # transitions an update
    learning_rate: float = 1e-3  # at the start; falls to zero along a line
    gamma: float = 0.99  # discount
    q_lambda: float = 0.9  # 0: one-step targets; 1: whole returns, as far as the experience goes
    explore_first: float = 1.0  # share of random actions at the start
    explore_last: float = 0.05  # share of random actions from `explore_until` on
    explore_until: float = 0.3  # part of the run in which that share falls along a line
    max_grad_norm: float = 10.0  # gradients are scaled down to this norm
    one_hot: int = 0  # numbers of an image of integers that are names of things, each then one of so many; 0: numbers
    width: int = 128  # units of the hidden layers


class Values(nn.Module):
    """What each action is worth: observations [N, D] to [N, A].

    The layer normalisation is what keeps the values from running away without a target network.
    """

    def __init__(self, observations: int, actions: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Linear(observations, width), nn.LayerNorm(width), nn.ReLU()),
            *(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()),
            nn.Linear(width, actions),
        )

    def forward(self, observation: Tensor) -> Tensor:
        return self.layers(observation)


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds (the folder alone after `stop_after`)."""
    # --- the gate, the environment, the network ---
    run = Run(args, "PQN")
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
    actions = action_count(envs.single_action_space, "pqn.py")
    look = Vector(envs.single_observation_space, "pqn.py", args.one_hot)  # what the environment gives, as [N, D]
    values = Values(look.size, actions, args.width).to(args.device)
    optimizer = torch.optim.RAdam(values.parameters(), lr=args.learning_rate, foreach=True)
    generator = torch.Generator(args.device).manual_seed(args.seed)

    # --- a new run, or one taken up where its last checkpoint left it, to the bit ---
    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    if run.saved is None:
        observation = look(envs.reset(seed=args.seed << 20)[0])  # runs share no row's seed
    else:
        values.load_state_dict(run.saved["agent"])
        optimizer.load_state_dict(run.saved["optimizer"])
        generator.set_state(run.saved["generator"])
        envs.load_state_dict(run.saved["envs"])
        observation = run.saved["observation"].to(args.device)

    # --- train ---
    for iteration in run.iterations(iterations, batch):
        began = time.perf_counter()
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - iteration / iterations)
        explored = min(1.0, iteration / max(1.0, args.explore_until * iterations))
        explore = args.explore_first + (args.explore_last - args.explore_first) * explored

        # Experience: `num_steps` of every row, each with what its best action seemed worth.
        steps: list[tuple[Tensor, ...]] = []
        episodes = torch.zeros(3, device=args.device)  # how many ended, sum of returns, sum of lengths
        with torch.no_grad():
            for _ in range(args.num_steps):
                best, action = values(observation).max(-1)
                chance = torch.rand(2, args.num_envs, generator=generator, device=args.device)
                action = torch.where(chance[0] < explore, (chance[1] * actions).long(), action)
                following, reward, terminated, truncated, info = envs.step(action)
                following = look(following)
                # An episode that was cut off would have gone on: what its last observation is worth
                # belongs to its return. An episode that terminated is worth what it got.
                cut = truncated & ~terminated
                if cut.any():
                    reward[cut] += args.gamma * values(look(info["final_obs"])[cut]).amax(-1)
                steps.append((observation, action, best, reward, terminated | truncated))
                ended = info["episode"]
                episodes += torch.stack([info["_episode"].sum(), ended["r"].sum(), ended["l"].sum()])
                observation = following
            next_best = values(observation).amax(-1)
        observations, acted, bests, rewards, dones = map(torch.stack, zip(*steps, strict=True))

        # Targets, backwards in time: a mixture of what the next action seems worth and of its own target.
        targets = torch.empty_like(rewards)
        target = next_best
        for t in reversed(range(args.num_steps)):
            to_come = args.q_lambda * target + (1 - args.q_lambda) * next_best
            target = rewards[t] + args.gamma * (~dones[t]).float() * to_come
            targets[t], next_best = target, bests[t]

        # Updates. Time and rows become one dimension [batch].
        seen, did, wanted = observations.flatten(0, 1), acted.flatten(), targets.flatten()
        for _ in range(args.epochs):
            order = torch.randperm(batch, generator=generator, device=args.device)
            for chosen in order.split(args.minibatch):
                value = values(seen[chosen]).gather(-1, did[chosen, None]).squeeze(-1)
                loss = 0.5 * (value - wanted[chosen]).square().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(values.parameters(), args.max_grad_norm)
                optimizer.step()

        # What happened, in numbers.
        numbers = {"loss/value": loss.item(), "value/best": bests.mean().item(), "explore": explore}
        run.report(time.perf_counter() - began, episodes.tolist(), numbers)
        if run.due:
            run.save(
                agent=values.state_dict(),
                optimizer=optimizer.state_dict(),
                generator=generator.get_state(),
                envs=envs.state_dict(),
                observation=observation,
            )
    envs.close()

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    def trained(env: Any, observation: Any) -> int:
        with torch.no_grad():
            return int(values(look(batch_of_one(observation, args.device))).argmax())

    return run.finish(trained)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
