"""SAC in one file: `python training/sac.py --help`.

Soft actor-critic (Haarnoja et al. 2018) for bounded Box actions: twin critics, a temperature that finds its own size,
and a replay buffer on the device, filled by many rows at once. Read it from top to bottom: arguments, networks,
training. What every script does alike is in training/common.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
import tyro
from torch import Tensor, nn

from common import Replay, Run, RunArgs, Vector, action_bounds, batch_of_one


@dataclass
class Args(RunArgs):
    exp: str = "sac"  # name of the experiment, a part of the run's folder name

    total_steps: int = 20_000  # environment steps, all rows together
    num_envs: int = 8  # rows of the batch
    num_steps: int = 25  # steps of every row in an iteration, which is what is reported and saved together
    update_to_data: float = 0.5  # updates for each environment step
    minibatch: int = 128  # transitions an update
    buffer: int = 200_000  # transitions that the replay buffer keeps
    random_steps: int = 1_000  # environment steps, all rows together, with random actions before anything is learned
    hold: int = 1  # steps that each row's random action is held; where nothing happens without a push, more than 1
    scale: bool = False  # observations from their bounds to between -1 and 1
    learning_rate: float = 1e-3  # of actor, critics and temperature
    gamma: float = 0.99  # discount
    tau: float = 0.005  # how much of the critics goes into their slow copies with each update
    temperature: float = 1.0  # weight of the entropy at the start
    target_entropy: float | None = None  # what the temperature aims at; minus the length of an action by default
    width: int = 64  # units of the hidden layers


class Actor(nn.Module):
    """A normal distribution, squashed by tanh: observations [N, D] to actions [N, A] between -1 and 1."""

    def __init__(self, observations: int, actions: int, width: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(observations, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.mean, self.log_std = nn.Linear(width, actions), nn.Linear(width, actions)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.trunk(observation)
        return self.mean(hidden), self.log_std(hidden).clamp(-5, 2)

    def sample(self, observation: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Actions [N, A] and the logarithms of their densities [N]."""
        mean, log_std = self(observation)
        noise = torch.randn(mean.shape, generator=generator, device=mean.device)
        before = mean + log_std.exp() * noise
        log_prob = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
        # The slope of tanh: log(1 - tanh(x)^2), written so that it stays a number far from 0.
        log_prob = log_prob - 2 * (math.log(2) - before - F.softplus(-2 * before))
        return before.tanh(), log_prob.sum(-1)


class Critics(nn.Module):
    """Two networks of the same shape side by side: (observations [N, D], actions [N, A]) to values [2, N]."""

    def __init__(self, observations: int, actions: int, width: int) -> None:
        super().__init__()
        sizes = ((observations + actions, width), (width, width), (width, 1))
        self.weights = nn.ParameterList(nn.Parameter(torch.empty(2, *size)) for size in sizes)
        self.biases = nn.ParameterList(nn.Parameter(torch.empty(2, 1, size[1])) for size in sizes)
        for (inputs, _), *parameters in zip(sizes, self.weights, self.biases, strict=True):
            for parameter in parameters:
                nn.init.uniform_(parameter, -(inputs**-0.5), inputs**-0.5)

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        hidden = torch.cat([observation, action], dim=-1).expand(2, -1, -1)
        (first, second, last), (one, two, three) = self.weights, self.biases
        hidden = torch.baddbmm(one, hidden, first).relu()
        hidden = torch.baddbmm(two, hidden, second).relu()
        return torch.baddbmm(three, hidden, last).squeeze(-1)


def main(args: Args) -> dict[str, Any]:
    """Train, save, measure, draw; returns what results.json holds (the folder alone after `stop_after`)."""
    # --- the gate, the environment, the networks ---
    run = Run(args, "SAC")
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
    look = Vector(envs.single_observation_space, "sac.py", scale=args.scale)  # what the environment gives, as [N, D]
    size = look.size
    centre, reach = (part.to(args.device) for part in action_bounds(envs.single_action_space, "sac.py"))
    actor = Actor(size, len(centre), args.width).to(args.device)
    critics, slow = (Critics(size, len(centre), args.width).to(args.device) for _ in range(2))
    slow.load_state_dict(critics.state_dict())
    slow.requires_grad_(False)
    log_temperature = torch.full((), math.log(args.temperature), device=args.device, requires_grad=True)
    target_entropy = -float(len(centre)) if args.target_entropy is None else args.target_entropy
    parts = {"actor": actor.parameters(), "critics": critics.parameters(), "temperature": [log_temperature]}
    optimizers = {name: torch.optim.Adam(part, lr=args.learning_rate, fused=True) for name, part in parts.items()}
    generator = torch.Generator(args.device).manual_seed(args.seed)
    replay = Replay(args.buffer, args.num_envs, args.device)

    # --- a new run, or one taken up where its last checkpoint left it, to the bit ---
    batch = args.num_envs * args.num_steps
    iterations = max(1, args.total_steps // batch)
    owed = 0.0  # updates that are due
    drawn = torch.zeros((args.num_envs, len(centre)), device=args.device)  # the last random action of each row
    if run.saved is None:
        observation = look(envs.reset(seed=args.seed << 20)[0])  # runs share no row's seed
    else:
        for module, name in ((actor, "agent"), (critics, "critics"), (slow, "slow"), (replay, "replay")):
            module.load_state_dict(run.saved[name])
        for name, optimizer in optimizers.items():
            optimizer.load_state_dict(run.saved["optimizer"][name])
        log_temperature.data.copy_(run.saved["log_temperature"])
        generator.set_state(run.saved["generator"])
        envs.load_state_dict(run.saved["envs"])
        observation, drawn = (run.saved[name].to(args.device) for name in ("observation", "drawn"))
        owed = run.saved["owed"]

    # --- train ---
    for iteration in run.iterations(iterations, batch):
        began = time.perf_counter()
        episodes = torch.zeros(3, device=args.device)  # how many ended, sum of returns, sum of lengths
        numbers: dict[str, Tensor] = {}
        for step in range(args.num_steps):
            # Experience: one step of every row.
            played = iteration * args.num_steps + step
            learning = played * args.num_envs >= args.random_steps
            with torch.no_grad():
                if learning:
                    action, _ = actor.sample(observation, generator)
                else:
                    if played % args.hold == 0:
                        drawn = 2 * torch.rand(drawn.shape, generator=generator, device=args.device) - 1
                    action = drawn
            following, reward, terminated, truncated, info = envs.step(centre + reach * action)
            following = look(following)
            # What came next is the last observation of an episode that ended here. Only a termination
            # makes it worth nothing: an episode that was cut off would have gone on.
            over = (terminated | truncated)[:, None]
            came = torch.where(over, look(info["final_obs"]), following)
            replay.add(observation=observation, action=action, reward=reward, following=came, terminated=terminated)
            ended = info["episode"]
            episodes += torch.stack([info["_episode"].sum(), ended["r"].sum(), ended["l"].sum()])
            observation = following

            # Updates.
            owed += args.update_to_data * args.num_envs if learning else 0.0
            while owed >= 1:
                owed -= 1
                seen = replay.sample(args.minibatch, generator)
                temperature = log_temperature.detach().exp()
                # The critics: towards the reward and the smaller of two opinions on what follows.
                with torch.no_grad():
                    next_action, log_prob = actor.sample(seen["following"], generator)
                    worth = slow(seen["following"], next_action).amin(0) - temperature * log_prob
                    target = seen["reward"] + args.gamma * (~seen["terminated"]).float() * worth
                critic_loss = 0.5 * (critics(seen["observation"], seen["action"]) - target).square().mean(-1).sum()
                descend(optimizers["critics"], critic_loss, critics.parameters())
                # The actor: towards actions that the critics value, and away from being sure.
                now, log_prob = actor.sample(seen["observation"], generator)
                actor_loss = (temperature * log_prob - critics(seen["observation"], now).amin(0)).mean()
                descend(optimizers["actor"], actor_loss, actor.parameters())
                # The temperature: up where the actor is surer than it should be.
                surer = (log_prob.detach() + target_entropy).mean()
                descend(optimizers["temperature"], -log_temperature * surer, [log_temperature])
                torch._foreach_lerp_(list(slow.parameters()), list(critics.parameters()), args.tau)
                numbers = {"loss/critic": critic_loss, "loss/actor": actor_loss, "temperature": temperature}

        # What happened, in numbers.
        run.report(time.perf_counter() - began, episodes.tolist(), {key: part.item() for key, part in numbers.items()})
        if run.due:
            run.save(
                agent=actor.state_dict(),
                critics=critics.state_dict(),
                slow=slow.state_dict(),
                log_temperature=log_temperature.detach(),
                optimizer={name: optimizer.state_dict() for name, optimizer in optimizers.items()},
                generator=generator.get_state(),
                envs=envs.state_dict(),
                observation=observation,
                drawn=drawn,
                replay=replay.state_dict(),
                owed=owed,
            )
    envs.close()

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    def trained(env: Any, observation: Any) -> np.ndarray:
        with torch.no_grad():
            mean, _ = actor(look(batch_of_one(observation, args.device)))
        return (centre + reach * mean[0].tanh()).cpu().numpy()

    return run.finish(trained)


def descend(optimizer: torch.optim.Optimizer, loss: Tensor, parameters: Any) -> None:
    """One update of these parameters; the loss may hang on others, whose gradients are not asked for."""
    parameters = list(parameters)
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    optimizer.step()


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
