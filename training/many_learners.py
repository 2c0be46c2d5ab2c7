"""Many PPO learners at once in one batch: `python training/many_learners.py`.

One environment batch holds the rows of all learners, and one vector of parameters for each learner lies in a tensor
[K, P]. What one learner does is written once, for one learner, and torch.func.vmap does it for all: each product of
small matrices becomes one larger one. Here four learning rates are tried, with several seeds each, and the picture
shows how far the curves of equal learners lie apart.

Each learner has its own rows, first parameters and random numbers, and never meets the others: by itself it would learn
the same, but for the rounding of products in another order. At the end some iterations are timed both ways.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from common import EnvArgs, EvalArgs, action_count, gate, measure, new_folder, observation_size, write_results
from simulacrum.plots import Curve, learning_curves

SMOOTH = 10  # iterations that a point of a curve looks back on


@dataclass
class Args(EvalArgs, EnvArgs):
    env_id: str = "simulacrum/cartpole-v1"  # id of a registered environment
    exp: str = "many"  # name of the experiment, a part of the run's folder name
    eval_episodes: int = 5  # episodes on the reference twin for each seed, of each learner
    eval_seeds: int = 1  # seeds to measure with
    rates: tuple[float, ...] = (1e-4, 3e-4, 1e-3, 3e-3)  # learning rates to try
    learners: int = 4  # with each of them, that differ in their seed
    learner_steps: int = 60_000  # environment steps of each learner
    rows: int = 8  # rows of each learner
    num_steps: int = 32  # steps of every row between updates
    epochs: int = 4  # passes over each batch of experience
    minibatches: int = 4  # into which a learner's experience is parted
    gamma: float = 0.99  # discount
    gae_lambda: float = 0.95  # 0: one-step advantages; 1: whole returns
    clip: float = 0.2  # how far a probability may move before its gradient stops, as a ratio
    entropy: float = 0.005  # weight of the entropy bonus
    value_weight: float = 0.5  # weight of the value loss
    max_grad_norm: float = 0.5  # gradients are scaled down to this norm
    width: int = 64  # units of the two hidden layers
    timed: int = 5  # iterations to time, together and one learner after the other; 0: none


class Network(nn.Module):
    """Observations [N, D] to (logits [N, A], value [N]), with layers of their own for each."""

    def __init__(self, observations: int, actions: int, width: int) -> None:
        super().__init__()
        self.policy, self.value = _layers(observations, width, actions, 0.01), _layers(observations, width, 1, 1.0)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(observation), self.value(observation)[:, 0]


def _layers(inputs: int, width: int, outputs: int, gain: float) -> nn.Sequential:
    hidden = (_layer(inputs, width, 2**0.5), nn.Tanh(), _layer(width, width, 2**0.5), nn.Tanh())
    return nn.Sequential(*hidden, _layer(width, outputs, gain))


def _layer(inputs: int, outputs: int, gain: float) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


class Learners:
    """K learners with all that is theirs: rows of the environment, parameters, Adam's averages, random numbers.

    Args:
        args: of the run.
        kinds: for each learner its learning rate and its seed.
    """

    def __init__(self, args: Args, kinds: list[tuple[float, int]]) -> None:
        self.args, self.count = args, len(kinds)
        self.envs = gym.make_vec(
            args.env_id,
            num_envs=self.count * args.rows,
            vectorization_mode="vector_entry_point",
            autoreset_mode="same_step",
            device=args.device,
            compile=args.compile,
        )
        self.size = observation_size(self.envs.single_observation_space, "many_learners.py")
        self.actions = action_count(self.envs.single_action_space, "many_learners.py")
        networks = [self._network(seed) for _, seed in kinds]
        self.network = copy.deepcopy(networks[0]).to("meta")  # the shapes of one; parameters come from `flat`
        self.flat = torch.stack([nn.utils.parameters_to_vector(one.parameters()).detach() for one in networks])
        self.flat = self.flat.to(args.device)  # [K, P]
        self.mean, self.square, self.updates = torch.zeros_like(self.flat), torch.zeros_like(self.flat), 0
        self.rates = torch.tensor([rate for rate, _ in kinds], device=args.device)[:, None]  # [K, 1]
        self.generators = [torch.Generator(args.device).manual_seed(seed) for _, seed in kinds]
        seeds = [(seed << 20) + row for _, seed in kinds for row in range(args.rows)]  # learners share no row's seed
        self.observation = self.envs.reset(seed=seeds)[0]
        self.look = torch.func.vmap(self.look_one)
        self.gradient = torch.func.vmap(torch.func.grad(self.loss_of_one))

    def _network(self, seed: int) -> Network:
        torch.manual_seed(seed)
        return Network(self.size, self.actions, self.args.width)

    # --- one learner: P parameters, N observations, M transitions -------------------------------------------------

    def look_one(self, flat: Tensor, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [N, A] and values [N] of observations [N, D] under parameters [P]."""
        named = dict(self.network.named_parameters())
        parts = flat.split([part.numel() for part in named.values()])
        given = {name: part.view(named[name].shape) for name, part in zip(named, parts, strict=True)}
        return torch.func.functional_call(self.network, given, (observation,))

    def loss_of_one(self, flat: Tensor, experience: Tensor) -> Tensor:
        """PPO's loss of a minibatch [M, D + 4]: observation, action, its log-probability, advantage, target."""
        args = self.args
        acted, log_before, better, target = experience[:, self.size :].unbind(-1)
        logits, value = self.look_one(flat, experience[:, : self.size])
        logs = logits.log_softmax(-1)
        ratio = (logs.gather(-1, acted.long()[:, None])[:, 0] - log_before).exp()
        better = (better - better.mean()) / (better.std() + 1e-8)
        clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
        policy_loss = -torch.min(ratio * better, clipped * better).mean()
        value_loss = 0.5 * (value - target).square().mean()
        entropy = -(logs.exp() * logs).sum(-1).mean()
        return policy_loss + args.value_weight * value_loss - args.entropy * entropy

    # --- all learners ---------------------------------------------------------------------------------------------

    def iterate(self) -> Tensor:
        """Experience and updates of all learners; how many episodes ended and the sum of their returns, [2, K]."""
        experience, episodes = self.collect()
        batch = experience.shape[1]
        for _ in range(self.args.epochs):
            order = torch.stack([torch.randperm(batch, generator=one, device=one.device) for one in self.generators])
            for chosen in order.chunk(self.args.minibatches, dim=1):  # [K, M]
                gradient = self.gradient(self.flat, experience.take_along_dim(chosen[:, :, None], 1))
                self.step(gradient)
        return episodes

    @torch.no_grad()
    def collect(self) -> tuple[Tensor, Tensor]:
        """`num_steps` of every row: experience [K, T x R, D + 4], and the episodes that ended, as `iterate` says."""
        args, shape = self.args, (self.count, self.args.rows)
        noise = [torch.empty(args.num_steps, args.rows, self.actions, device=one.device) for one in self.generators]
        waits = torch.stack(
            [empty.exponential_(generator=one) for empty, one in zip(noise, self.generators, strict=True)], dim=1
        )  # [T, K, R, A]
        steps: list[tuple[Tensor, ...]] = []
        ended = torch.zeros(2, *shape, device=args.device)  # how many episodes, sum of their returns
        for wait in waits:
            seen = self.observation.view(*shape, self.size)
            logits, value = self.look(self.flat, seen)
            action = (logits.softmax(-1) / wait).argmax(-1)  # the first of exponential waits with these rates
            log_prob = logits.log_softmax(-1).gather(-1, action[..., None])[..., 0]
            self.observation, *got, info = self.envs.step(action.flatten())
            reward, terminated, truncated = (part.view(shape) for part in got)
            cut = truncated & ~terminated  # would have gone on: its last observation is worth something
            if cut.any():
                final = info["final_obs"].view(*shape, self.size)
                reward = reward + args.gamma * self.look(self.flat, final)[1] * cut
            steps.append((seen, action, log_prob, value, reward, terminated | truncated))
            ended += torch.stack([info["_episode"], info["episode"]["r"]]).view(2, *shape)
        value = self.look(self.flat, self.observation.view(*shape, self.size))[1]
        experience = self.with_advantages(steps, value)
        return experience, ended.sum(-1)

    def with_advantages(self, steps: list[tuple[Tensor, ...]], last: Tensor) -> Tensor:
        """Experience [K, T x R, D + 4], with advantages by GAE, backwards in time."""
        args, kept = self.args, list[Tensor]()
        advantage, following = torch.zeros_like(last), last
        for seen, action, log_prob, value, reward, done in reversed(steps):
            discount = args.gamma * ~done
            advantage = reward + discount * (following + args.gae_lambda * advantage) - value
            following = value
            columns = [seen, *(part[..., None] for part in (action, log_prob, advantage, advantage + value))]
            kept.append(torch.cat([column.float() for column in columns], dim=-1))
        return torch.cat(kept[::-1], dim=1)

    @torch.no_grad()
    def step(self, gradient: Tensor) -> None:
        """Adam, each learner with its own learning rate and its own norm."""
        self.updates += 1
        norm = gradient.norm(dim=1, keepdim=True)
        gradient = gradient * (self.args.max_grad_norm / (norm + 1e-6)).clamp(max=1)
        self.mean.lerp_(gradient, 0.1)
        self.square.lerp_(gradient.square(), 0.001)
        mean, square = self.mean / (1 - 0.9**self.updates), self.square / (1 - 0.999**self.updates)
        self.flat -= self.rates * mean / (square.sqrt() + 1e-5)

    def act(self, learner: int) -> Any:
        """The policy of one learner, always its likeliest action, for one row of the reference twin."""

        def best(env: Any, observation: np.ndarray) -> int:
            with torch.no_grad():
                logits, _ = self.look_one(self.flat[learner], torch.from_numpy(observation)[None].to(self.args.device))
            return int(logits[0].argmax())

        return best


def seconds(args: Args, groups: list[list[tuple[float, int]]]) -> float:
    """Processor time of `timed` iterations of these groups of learners, one group after the other; nothing else."""
    took = 0.0
    for kinds in groups:
        learners = Learners(args, kinds)
        learners.iterate()  # what happens once
        began = time.process_time()
        for _ in range(args.timed):
            learners.iterate()
        took += time.process_time() - began
        learners.envs.close()
    return took


def recent(episodes: np.ndarray) -> np.ndarray:
    """Mean returns of the episodes of the last `SMOOTH` iterations [I, K], NaN where none ended, of `[I, 2, K]`."""
    summed = np.cumsum(episodes, axis=0)
    summed[SMOOTH:] = summed[SMOOTH:] - summed[:-SMOOTH]
    count, total = summed.swapaxes(0, 1)
    return total / np.where(count > 0, count, np.nan)


def draw(path: Path, args: Args, curves: np.ndarray, kinds: list[tuple[float, int]]) -> None:
    """A thin line for each learner, a thick one for the mean of each learning rate. `curves` [iterations, K]."""
    steps = (np.arange(1, len(curves) + 1) * args.rows * args.num_steps).tolist()
    lines = []
    for rate in args.rates:
        mine = curves[:, [number for number, (other, _) in enumerate(kinds) if other == rate]]
        mean = np.nanmean(mine, axis=1).tolist()
        lines.append(Curve(f"learning rate {rate:g}", steps, mean, each=mine.T.tolist()))
    learning_curves(
        path,
        lines,
        title=f"{len(kinds)} learners at once on {args.env_id}",
        x_label="environment steps of each learner",
        y_label=f"mean return, last {SMOOTH} iterations",
    )


def table(args: Args, kinds: list[tuple[float, int]], returns: list[float]) -> Table:
    """A line for each learning rate: what its learners reach on the reference twin."""
    episodes = args.eval_seeds * args.eval_episodes
    shown = Table(title=f"{args.env_id}, reference twin, {episodes} episodes of each learner")
    for heading in ("learning rate", "learners", "mean return", "worst", "best"):
        shown.add_column(heading, justify="right")
    for rate in args.rates:
        mine = [got for got, (other, _) in zip(returns, kinds, strict=True) if other == rate]
        shown.add_row(f"{rate:g}", str(len(mine)), *(f"{x:.1f}" for x in (np.mean(mine), min(mine), max(mine))))
    return shown


def main(args: Args) -> dict[str, Any]:
    """Train all, time, measure, draw; returns what results.json holds."""
    torch.set_num_threads(args.threads)
    console = Console()
    _, provenance = gate(args)
    folder = new_folder(args, provenance)
    kinds = [(rate, args.seed + number) for rate in args.rates for number in range(args.learners)]

    learners, episodes, began = Learners(args, kinds), list[np.ndarray](), time.perf_counter()
    iterations = max(1, args.learner_steps // (args.rows * args.num_steps))
    console.print(f"{len(kinds)} learners, {iterations} iterations of {args.rows * args.num_steps:,} steps each")
    for number in range(iterations):
        episodes.append(learners.iterate().cpu().numpy())
        if (number + 1) % max(1, iterations // 10) == 0:
            means = " ".join(f"{one:.0f}" for one in recent(np.stack(episodes))[-1])
            console.print(f"{number + 1:5} iterations  mean returns {means}", soft_wrap=True, highlight=False)
    took = time.perf_counter() - began
    learners.envs.close()

    with console.status("measuring on the reference twin"):
        returns = [float(measure(args, learners.act(number))[0].mean()) for number in range(len(kinds))]
    console.print(table(args, kinds, returns))
    curves = recent(np.stack(episodes))
    draw(folder / "learners.png", args, curves, kinds)
    shown = np.where(np.isnan(curves), None, curves).tolist()
    results: dict[str, Any] = {"seconds": took, "curves": shown, "reference": returns, "kinds": kinds}
    if args.timed:
        together, alone = seconds(args, [kinds]), seconds(args, [[kind] for kind in kinds])
        results |= {"together": together, "one_by_one": alone, "times_faster": alone / together}
        console.print(f"{len(kinds)} learners at once are {alone / together:.1f} times as fast as one after the other")
    console.print(f"picture: {folder / 'learners.png'}", soft_wrap=True)
    return write_results(folder, args, provenance, results)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
