"""DQN in one file: `python training/dqn.py --help`.

Q-learning from a replay buffer (Mnih et al. 2015) with the double estimate (van Hasselt et al. 2016), filled by many
rows at once; buffer, environment and network live on one device. Read it from top to bottom: arguments, network,
training. What every script does alike is in training/common.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import torch
import torch.nn.functional as F
import tyro
from torch import Tensor, nn

from common import Replay, Run, RunArgs, Vector, action_count, batch_of_one


@dataclass
class Args(RunArgs):
    exp: str = "dqn"  # name of the experiment, a part of the run's folder name

    total_steps: int = 50_000  # environment steps, all rows together
    num_envs: int = 16  # rows of the batch
    num_steps: int = 16  # steps of every row between updates
    update_to_data: float = 0.25  # updates for each environment step
    minibatch: int = 128  # transitions an update
    buffer: int = 100_000  # transitions that the replay buffer keeps
    random_steps: int = 1_000  # environment steps, all rows together, before anything is learned
    learning_rate: float = 1e-3  # at the start; falls to zero along a line
    gamma: float = 0.99  # discount
    tau: float = 0.05  # how much of the network goes into its slow copy, the target network, with each update
    explore_first: float = 1.0  # share of random actions at the start
    explore_last: float = 0.04  # share of random actions from `explore_until` on
    explore_until: float = 0.2  # part of the run in which that share falls along a line
    max_grad_norm: float = 10.0  # gradients are scaled down to this norm
    one_hot: int = 0  # numbers of an image of integers that are names of things, each then one of so many; 0: numbers
    width: int = 128  # units of the hidden layers


class Values(nn.Module):
    """What each action is worth: observations as `look` narrows them to [N, A].

    The layer normalisation is not in the first papers; with it the target network may follow fast (see pqn.py).
    """

    def __init__(self, look: Vector, actions: int, width: int) -> None:
        super().__init__()
        self.look = look
        self.layers = nn.Sequential(
            *(nn.Linear(look.size, width), nn.LayerNorm(width), nn.ReLU()),
            *(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()),
            nn.Linear(width, actions),
        )

    def forward(self, observation: Tensor) -> Tensor:
        return self.layers(self.look.spread(observation))


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds (the folder alone after `stop_after`)."""
    # --- the gate, the environment, the networks ---
    run = Run(args, "DQN")
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
    look = Vector(envs.single_observation_space, "dqn.py", args.one_hot)  # what the environment gives, as [N, D]
    actions = action_count(envs.single_action_space, "dqn.py")
    values, target = (Values(look, actions, args.width).to(args.device) for _ in range(2))
    target.load_state_dict(values.state_dict())
    target.requires_grad_(False)
    optimizer = torch.optim.Adam(values.parameters(), lr=args.learning_rate, fused=True)
    generator = torch.Generator(args.device).manual_seed(args.seed)
    replay = Replay(args.buffer, args.num_envs, args.device)

    # --- a new run, or one taken up where its last checkpoint left it, to the bit ---
    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    owed = 0.0  # updates that are due
    if run.saved is None:
        observation = look.narrow(envs.reset(seed=args.seed << 20)[0])  # runs share no row's seed
    else:
        for module, name in ((values, "agent"), (target, "target"), (replay, "replay")):
            module.load_state_dict(run.saved[name])
        optimizer.load_state_dict(run.saved["optimizer"])
        generator.set_state(run.saved["generator"])
        envs.load_state_dict(run.saved["envs"])
        observation, owed = run.saved["observation"].to(args.device), run.saved["owed"]

    # --- train ---
    for iteration in run.iterations(iterations, batch):
        began = time.perf_counter()
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - iteration / iterations)
        explored = min(1.0, iteration / max(1.0, args.explore_until * iterations))
        explore = args.explore_first + (args.explore_last - args.explore_first) * explored
        numbers: dict[str, float] = {"explore": explore}

        # Experience: `num_steps` of every row, into the buffer.
        episodes = torch.zeros(3, device=args.device)  # how many ended, sum of returns, sum of lengths
        for _ in range(args.num_steps):
            with torch.no_grad():
                best = values(observation).argmax(-1)
            chance = torch.rand(2, args.num_envs, generator=generator, device=args.device)
            action = torch.where(chance[0] < explore, (chance[1] * actions).long(), best)
            following, reward, terminated, truncated, info = envs.step(action)
            following = look.narrow(following)
            # What came next is the last observation of an episode that ended here. Only a termination
            # makes it worth nothing: an episode that was cut off would have gone on.
            over = (terminated | truncated)[:, None]
            came = torch.where(over, look.narrow(info["final_obs"]), following)
            replay.add(observation=observation, action=action, reward=reward, following=came, terminated=terminated)
            ended = info["episode"]
            episodes += torch.stack([info["_episode"].sum(), ended["r"].sum(), ended["l"].sum()])
            observation = following

        # Updates.
        if (iteration + 1) * batch >= args.random_steps:
            owed += args.update_to_data * batch
        while owed >= 1:
            owed -= 1
            seen = replay.sample(args.minibatch, generator)
            with torch.no_grad():  # the network says which action is best, the target network what it is worth
                best = values(seen["following"]).argmax(-1, keepdim=True)
                worth = target(seen["following"]).gather(-1, best).squeeze(-1)
                wanted = seen["reward"] + args.gamma * (~seen["terminated"]).float() * worth
            value = values(seen["observation"]).gather(-1, seen["action"][:, None]).squeeze(-1)
            loss = F.smooth_l1_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(values.parameters(), args.max_grad_norm)
            optimizer.step()
            torch._foreach_lerp_(list(target.parameters()), list(values.parameters()), args.tau)
            if owed < 1:
                numbers |= {"loss/value": loss.item(), "value/taken": value.mean().item()}

        # What happened, in numbers.
        run.report(time.perf_counter() - began, episodes.tolist(), numbers)
        if run.due:
            run.save(
                agent=values.state_dict(),
                target=target.state_dict(),
                optimizer=optimizer.state_dict(),
                generator=generator.get_state(),
                envs=envs.state_dict(),
                observation=observation,
                replay=replay.state_dict(),
                owed=owed,
            )
    envs.close()

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    def trained(env: Any, observation: Any) -> int:
        with torch.no_grad():
            return int(values(look.narrow(batch_of_one(observation, args.device))).argmax())

    return run.finish(trained)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
