"""PPO in one file, torch from end to end: `python training/ppo.py --help`.

Read it from top to bottom: arguments, network, training, then measuring and drawing. It trains on the batched
twin, which the gate lets through only with a fresh report, and measures what it learned on the reference
twin, beside the package's scripted policies and in the same episodes.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import matplotlib
import numpy as np
import torch
import tyro
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

import simulacrum


@dataclass
class Args:
    env_id: str = "simulacrum/forager-v0"  # id of a registered environment
    register: Path | None = None  # folder of an environment package to register first
    exp: str = "ppo"  # name of the experiment, a part of the run's folder name
    seed: int = 1  # of the network, the sampling and the environment's rows
    runs: Path = Path("runs")  # where the run's folder is made
    resume: Path | None = None  # run folder to go on with; its arguments hold, only --stop-after may be new
    stop_after: int | None = None  # stop after so many iterations and save, as if interrupted
    checkpoint_every: int = 20  # iterations between checkpoints; the last one is always saved
    device: str = "cpu"  # where environment and network live
    threads: int = 1  # threads of torch; more than the free cores makes everything slower
    compile: str | None = None  # form of the environment: eager, native, inductor; the fastest validated one by default
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

    eval_episodes: int = 100  # episodes on the reference twin at the end, for each seed
    eval_seeds: int = 5  # seeds to measure with


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
    """Train, save, measure, draw; returns what results.json holds (nothing after `stop_after`)."""
    saved = None
    if args.resume is not None:
        folder, saved = args.resume, load(args.resume / "checkpoint.pt")
        args = taken_up(args, saved["args"])
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    console = Console()

    # --- the gate, the environment, the agent ---
    if args.register is not None:
        simulacrum.register_envs(args.register)
    package = simulacrum.load_package(gym.spec(args.env_id).kwargs["package"])
    simulacrum.require_fresh_report(package)
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
    if saved is None:
        name = args.env_id.rpartition("/")[2]
        folder = args.runs / f"{name}__{args.exp}__{args.seed}__{time.strftime('%Y%m%d-%H%M%S')}"
        folder.mkdir(parents=True)
        done, seconds, curve = 0, 0.0, []
        observation, _ = envs.reset(seed=args.seed << 20)  # runs share no row's seed
    else:
        agent.load_state_dict(saved["agent"])
        optimizer.load_state_dict(saved["optimizer"])
        generator.set_state(saved["generator"])
        envs.load_state_dict(saved["envs"])
        observation = saved["observation"].to(args.device)
        done, seconds, curve = saved["iterations"], saved["seconds"], saved["curve"]
    writer = SummaryWriter(str(folder), purge_step=done * batch if done else None)
    writer.add_text("arguments", "\n".join(f"    {key}: {value}" for key, value in plain(args).items()))

    def save(iteration: int) -> None:
        """Replaces the checkpoint in one step: killed at any moment, the run still has its last one."""
        state = {
            "args": plain(args),
            "agent": agent.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
            "envs": envs.state_dict(),
            "observation": observation,
            "iterations": iteration,
            "seconds": seconds,
            "curve": curve,
        }
        torch.save(state, folder / "checkpoint.part")
        os.replace(folder / "checkpoint.part", folder / "checkpoint.pt")

    # --- train ---
    console.print(f"training on {args.env_id}: {iterations} iterations of {batch:,} steps", highlight=False)
    stop = iterations if args.stop_after is None else min(iterations, done + args.stop_after)
    with live(console, iterations * batch) as (progress, task):
        for iteration in range(done, stop):
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
            took = time.perf_counter() - began
            seconds += took
            step = (iteration + 1) * batch
            count, returns, lengths = episodes.tolist()
            numbers = {
                "episode/return": returns / max(count, 1),
                "episode/length": lengths / max(count, 1),
                "loss/policy": policy_loss.item(),
                "loss/value": value_loss.item(),
                "loss/entropy": spread.mean().item(),
                "loss/old_kl": ((ratio - 1) - ratio.log()).mean().item(),
                "loss/explained_variance": 1 - ((targets - values).var() / targets.var()).item(),
                "speed/steps_per_second": batch / took,
            }
            for key, number in numbers.items():
                if count or not key.startswith("episode"):
                    writer.add_scalar(key, number, step)
            if count:
                curve.append([step, seconds, numbers["episode/return"], numbers["episode/length"]])
            shown = f"return {numbers['episode/return']:6.2f}" if count else "no episode ended"
            progress.update(task, completed=step, shown=f"{shown}  {batch / took:9,.0f} steps/s")
            if not console.is_terminal and (iteration + 1) % max(1, iterations // 10) == 0:
                console.print(f"{step:>12,} steps  {seconds:6.1f} s  {shown}  {step / seconds:9,.0f} steps/s")
            if iteration + 1 == stop or (iteration + 1) % args.checkpoint_every == 0:
                save(iteration + 1)
    envs.close()
    if stop < iterations:
        writer.close()
        console.print(f"stopped after {stop} of {iterations} iterations: --resume {folder}", soft_wrap=True)
        return {"folder": str(folder)}

    # --- measure on the reference twin, beside the scripted policies, all in the same episodes ---
    def trained(env: Any, observation: np.ndarray) -> Any:
        with torch.no_grad():
            policy, _ = agent(torch.from_numpy(observation)[None].to(args.device))
        action = agent.for_env(agent.best(policy))[0]
        return action.item() if agent.discrete else action.cpu().numpy()

    policies: dict[str, Callable[[Any, Any], Any]] = {"PPO, trained": trained}
    probes = package.probes()
    for probe in probes.PROBES if probes is not None else ():
        policies[f"{probe.name}, scripted"] = scripted(probe.act)
    with console.status("measuring on the reference twin"):
        measured = {name: measure(args, act) for name, act in policies.items()}
    console.print(table(args, measured))
    for name, returns_and_lengths in measured.items():
        writer.add_scalar(f"reference/{name.partition(',')[0]}", float(returns_and_lengths[0].mean()), stop * batch)
    draw_curve(folder / "curve.png", args, curve, measured)
    results = {
        "folder": str(folder),
        "seconds": seconds,
        "steps_per_second": stop * batch / seconds,
        "curve": curve,
        "reference": {name: summary(*numbers) for name, numbers in measured.items()},
    }
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    writer.close()
    speed = results["steps_per_second"]
    console.print(f"trained in {seconds:.0f} s, {speed:,.0f} steps/s with the updates", highlight=False)
    console.print(f"curve: {folder / 'curve.png'}\nTensorBoard: tensorboard --logdir {args.runs}", soft_wrap=True)
    return results


def plain(args: Args) -> dict[str, Any]:
    """The arguments as text, numbers and lists, for the checkpoint."""
    return {key: str(value) if isinstance(value, Path) else value for key, value in vars(args).items()}


def load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SystemExit(f"nothing to resume: {path} is not there; --resume takes a run's folder")
    return torch.load(path, weights_only=True)


def taken_up(args: Args, saved: dict[str, Any]) -> Args:
    """The arguments of a resumed run: those it began with. Others would make it another run."""
    asked, usual = plain(args), plain(Args())
    other = [f"--{key.replace('_', '-')}" for key in asked if asked[key] not in (usual[key], saved[key])]
    other = [name for name in other if name not in ("--resume", "--stop-after")]
    if other:
        raise SystemExit(f"a resumed run keeps its arguments; leave out {', '.join(other)}")
    paths = {key: Path(saved[key]) for key in ("runs", "register") if saved[key] is not None}
    return Args(**{**saved, **paths, "resume": args.resume, "stop_after": args.stop_after})


@contextlib.contextmanager
def live(console: Console, total: int) -> Iterator[tuple[Progress, Any]]:
    """A progress line in a terminal; gives (progress, task)."""
    columns = (BarColumn(), TextColumn("{task.percentage:3.0f} %  {task.fields[shown]}"))
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress, progress.add_task("training", total=total, shown="")


def scripted(act: Callable[[Any, Any, int], Any]) -> Callable[[Any, Any], Any]:
    """A probe reads the reference's own scalars: observation, state, steps taken."""
    return lambda env, _: act(env.unwrapped.runner.observe(), env.unwrapped.runner.state, env.unwrapped.runner.t)


FIRST_EVAL_SEED = 2**60  # far from any training row's seed


def measure(args: Args, act: Callable[[Any, Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Returns and lengths on the reference twin, `eval_episodes` episodes for each of `eval_seeds` seeds."""
    env = gym.make(args.env_id)
    returns, lengths = [], []
    for seed in range(FIRST_EVAL_SEED, FIRST_EVAL_SEED + args.eval_seeds):
        observation, _ = env.reset(seed=seed)
        for _ in range(args.eval_episodes):
            total, length, over = 0.0, 0, False
            while not over:
                observation, reward, terminated, truncated, _ = env.step(act(env, observation))
                total, length, over = total + float(reward), length + 1, terminated or truncated
            returns.append(total)
            lengths.append(length)
            observation, _ = env.reset()
    env.close()
    return np.array(returns), np.array(lengths)


def summary(returns: np.ndarray, lengths: np.ndarray) -> dict[str, float]:
    return {
        "return": float(returns.mean()),
        "standard_error": float(returns.std(ddof=1) / len(returns) ** 0.5) if len(returns) > 1 else float("nan"),
        "length": float(lengths.mean()),
        "episodes": len(returns),
    }


def table(args: Args, measured: dict[str, tuple[np.ndarray, np.ndarray]]) -> Table:
    """Mean returns, and how much the trained policy gained on each scripted one, episode by episode."""
    shown = Table(title=f"{args.env_id}, reference twin, {args.eval_seeds} seeds x {args.eval_episodes} episodes")
    for heading in ("policy", "mean return", "episode length", "gain over it"):
        shown.add_column(heading, justify="left" if heading == "policy" else "right")
    mine = next(iter(measured.values()))[0]
    for name, (returns, lengths) in sorted(measured.items(), key=lambda entry: -entry[1][0].mean()):
        mean, gain = summary(returns, lengths), summary(mine - returns, lengths)
        gained = "" if returns is mine else f"{gain['return']:+.2f} ± {gain['standard_error']:.2f}"
        got = f"{mean['return']:.2f} ± {mean['standard_error']:.2f}"
        shown.add_row(name, got, f"{mean['length']:.1f}", gained)
    shown.caption = "± is one standard error"
    return shown


COLORS = ("#ea580c", "#6b7280", "#a16207", "#0d9488", "#9333ea")


def draw_curve(path: Path, args: Args, curve: list[list[float]], measured: dict[str, Any]) -> None:
    """Return against steps with a line for each scripted policy: the whole way, and what matters at its end."""
    matplotlib.use("Agg")
    (name, (returns, _)), *others = measured.items()
    steps, learned = [point[0] / 1e6 for point in curve], [point[2] for point in curve]
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    whole, close = figure.subplots(1, 2, width_ratios=(3, 2))
    for axes in (whole, close):
        axes.plot(steps, learned, color="#2563eb", linewidth=1.8, label="PPO while it learns")
        end, mean = steps[-1:] or [0.0], returns.mean()
        axes.plot(end, [mean], "o", color="#1e3a8a", markersize=7, zorder=5, label=f"{name}: {mean:.2f}")
        for color, (other, (reached, _)) in zip(itertools.cycle(COLORS), others, strict=False):
            label = f"{other}: {reached.mean():.2f}"
            axes.axhline(reached.mean(), color=color, linestyle="--", linewidth=1.3, label=label)
        axes.set_xlabel("environment steps (millions)")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    best = max(numbers.mean() for numbers, _ in measured.values())
    spread = max(best, *learned, 0.0) - min(best, *learned, 0.0)
    close.set_ylim(best - 0.06 * spread, best + 0.03 * spread)
    close.set_title("near the best", loc="left", fontsize="medium")
    whole.set_title(f"PPO on {args.env_id}, seed {args.seed}", loc="left", fontweight="bold")
    whole.set_ylabel("mean episode return")
    whole.legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
