"""PPO on forager in all kinds of wind, and whether that pays in winds that it never met:
`python training/randomized_forager.py`.

Three policies are trained by ppo.py with the same settings: in the usual wind, in a wind drawn anew for each episode,
and in winds drawn from a range that grows whenever the last episodes went well. A wrapped environment is an
environment: each way to train is registered under an id of its own, and ppo.py is told that id. Then all are measured
on the reference twin, in winds of fixed strengths. The observation does not show the wind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table

import ppo
from common import EnvArgs, EvalArgs, gate, measure, new_folder, summary, write_results
from simulacrum.plots import Measurement, points
from simulacrum.wrappers import Curriculum, DomainRandomization, Uniform

USUAL, RANDOM, GROWING = "usual wind, 0.15", "random wind", "growing range of winds"
SHARED = ("runs", "seed", "threads", "device", "compile", "total_steps", "num_envs", "num_steps", "minibatch", "width")


@dataclass
class Args(EvalArgs, EnvArgs):
    exp: str = "randomized"  # name of the experiment, a part of the run's folder name
    eval_episodes: int = 30  # episodes on the reference twin for each seed, in each wind
    total_steps: int = 800_000  # environment steps of each policy
    num_envs: int = 1024  # rows of the batch
    num_steps: int = 32  # steps of every row between updates
    minibatch: int = 4096  # transitions an update
    width: int = 128  # units of the hidden layers
    strongest: float = 0.8  # of the winds to train in
    stages: int = 4  # in which the range of winds grows up to the strongest
    target: float = 4.0  # mean return that opens the next stage
    window: int = 500  # of so many episodes
    winds: tuple[float, ...] = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9)  # to measure in


def ranges(args: Args) -> list[dict[str, Uniform]]:
    """The stages of the growing range: from 0 to a strength that grows in equal steps."""
    return [{"gust": Uniform(0.0, args.strongest * number / args.stages)} for number in range(1, args.stages + 1)]


def ways(args: Args) -> dict[str, Callable[[Any], Any]]:
    """What is put around the environment, by the name of the way to train."""
    return {
        USUAL: lambda envs: envs,
        RANDOM: lambda envs: DomainRandomization(envs, {"gust": Uniform(0.0, args.strongest)}),
        GROWING: lambda envs: Curriculum(envs, ranges(args), target=args.target, window=args.window),
    }


def registered(env_id: str, name: str, wrap: Callable[[Any], Any]) -> str:
    """A new id for the environment with something put around its batched twin; the reference twin stays as it is."""
    spec = gym.spec(env_id)
    make: Any = gym.envs.registration.load_env_creator(spec.vector_entry_point)
    new = f"{env_id.replace('/', '/' + name.split()[0] + '-wind-')}"
    gym.register(
        new,
        entry_point=spec.entry_point,
        vector_entry_point=lambda **given: wrap(make(**given)),
        kwargs=spec.kwargs,
        disable_env_checker=True,
        order_enforce=spec.order_enforce,
    )
    return new


def train(args: Args, name: str, wrap: Callable[[Any], Any]) -> tuple[Callable[[Any, Any], int], dict[str, Any]]:
    """Train one policy; returns it, and what is to be told of its run."""
    settings = ppo.Args(
        env_id=registered(args.env_id, name, wrap), items=ppo.ITEMS[args.env_id], exp="ppo", eval_episodes=1,
        eval_seeds=2, **{key: getattr(args, key) for key in SHARED},
    )  # fmt: skip
    results = ppo.main(settings)
    saved = torch.load(Path(results["folder"]) / "checkpoint.pt", weights_only=True)
    env = gym.make(args.env_id)
    agent = ppo.Agent(env.observation_space, env.action_space, settings.items, settings)
    agent.load_state_dict(saved["agent"])
    env.close()

    def act(env: Any, observation: np.ndarray) -> int:
        with torch.no_grad():
            policy, _ = agent(torch.from_numpy(observation)[None])
        return int(agent.best(policy)[0])

    told = {"folder": results["folder"], "seconds": results["seconds"]}
    return act, {**told, "stage": saved["envs"].get("own", {}).get("stage")}


def table(args: Args, returns: dict[str, list[np.ndarray]]) -> Table:
    """A line for each wind: mean returns by way of training, and the gain on the usual one in the same episodes."""
    size = f"{args.eval_seeds} seeds x {args.eval_episodes} episodes"
    shown = Table(title=f"{args.env_id}, reference twin, {size} in each wind", caption="± is one standard error")
    short = [" ".join(name.replace(",", "").split()[:2]) for name in returns]
    for heading in ("wind", *short, *(f"gain of {name}" for name in short[1:])):
        shown.add_column(heading, justify="right", min_width=12 if heading.startswith("gain") else 5)
    usual = returns[USUAL]
    for number, wind in enumerate(args.winds):
        means = [f"{got[number].mean():.2f}" for got in returns.values()]
        gains = [_with_error(got[number] - usual[number]) for name, got in returns.items() if name != USUAL]
        shown.add_row(f"{wind:.2f}", *means, *gains)
    shown.add_section()
    means = [f"{np.mean(got):.2f}" for got in returns.values()]
    gains = [_with_error(np.mean(got, axis=0) - np.mean(usual, axis=0)) for n, got in returns.items() if n != USUAL]
    shown.add_row("all", *means, *gains)
    return shown


def _with_error(gain: np.ndarray) -> str:
    numbers = summary(gain, gain)
    return f"{numbers['return']:+.2f} ± {numbers['standard_error']:.2f}"


def draw(path: Path, args: Args, returns: dict[str, list[np.ndarray]]) -> None:
    """Mean return against the strength of the wind, a line for each way to train."""
    every = []
    for name, got in returns.items():
        errors = [float(one.std(ddof=1) / len(one) ** 0.5) for one in got]
        every.append(Measurement(f"trained in {name}", args.winds, [float(one.mean()) for one in got], errors))
    points(
        path,
        every,
        title=f"{args.env_id}, {args.total_steps:,} steps each",
        x_label="strength of the wind: probability that a move is turned",
        y_label="mean episode return, reference twin",
        span=(0.0, args.strongest, "winds of the random range"),
    )


def main(args: Args) -> dict[str, Any]:
    """Train, measure, draw; returns what results.json holds."""
    console = Console()
    _, provenance = gate(args)
    folder = new_folder(args, provenance)
    returns: dict[str, list[np.ndarray]] = {}
    runs: dict[str, Any] = {}
    for name, wrap in ways(args).items():
        console.rule(f"trained in {name}")
        act, runs[name] = train(args, name, wrap)
        with console.status("measuring on the reference twin"):
            returns[name] = [measure(args, act, params={"gust": wind})[0] for wind in args.winds]
    console.print(table(args, returns))
    draw(folder / "winds.png", args, returns)
    console.print(f"picture: {folder / 'winds.png'}", soft_wrap=True)
    means = {name: [float(one.mean()) for one in got] for name, got in returns.items()}
    return write_results(folder, args, provenance, {"winds": list(args.winds), "returns": means, "runs": runs})


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
