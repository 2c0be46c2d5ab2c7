"""Episodes for learning offline, as a dataset of Minari: `python training/collect_minari.py --help`.

They are played on the batched twin, at random or by what ppo.py has learned, and go where Minari keeps its datasets
(MINARI_DATASETS_PATH says where, by default ~/.minari/datasets).

    python training/collect_minari.py --run runs/cartpole-v1__ppo__1__... --explore 0.1 --dataset cartpole/mixed-v0
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from rich.console import Console
from torch import Tensor

import simulacrum
from common import EnvArgs, gate
from ppo import ITEMS, Agent
from simulacrum.adapters.minari import export_minari


@dataclass
class Args(EnvArgs):
    dataset: str | None = None  # the dataset's name, such as forager/ppo-v0; made of environment and policy by default
    run: Path | None = None  # folder of a run of ppo.py whose agent plays; at random without it
    explore: float = 0.0  # share of actions that are random all the same
    episodes: int = 1000  # how many; each is the first of a seed of its own
    num_envs: int = 256  # rows to play in at a time
    author: str | None = None  # noted in the dataset
    author_email: str | None = None  # noted in the dataset


def agent_of(args: Args, package: Any) -> Callable[[Tensor], Tensor]:
    """What the agent of `args.run` does in observations [N, D]: the likeliest action, or a random one now and then.

    Raises:
        ProvenanceError: it was trained on another environment than this one is now.
        SystemExit: there is no run of ppo.py, or of one whose actions are masked.
    """
    path = args.run / "checkpoint.pt"
    if not path.is_file() or "agent" not in (saved := torch.load(path, weights_only=True, map_location=args.device)):
        raise SystemExit(f"{args.run} is not a folder of a run of ppo.py with a checkpoint")
    simulacrum.require_same_env(saved["environment"], simulacrum.require_fresh_report(package), where=args.run)
    if package.schema.action_mask is not None:
        raise SystemExit("an agent whose actions are masked cannot play here: a policy sees observations only")
    env = gym.make(args.env_id)
    given = Namespace(**saved["args"])
    items = given.items or ITEMS.get(args.env_id, (0, 0))
    agent = Agent(env.observation_space, env.action_space, items, given).to(args.device)
    agent.load_state_dict(saved["agent"])
    generator = torch.Generator(args.device).manual_seed(args.seed)
    spaces = gym.vector.utils.batch_space(env.action_space, 1)
    spaces.seed(args.seed)

    @torch.no_grad()
    def act(observation: Tensor) -> Tensor:
        action = agent.for_env(agent.best(agent(observation)[0]))
        if not args.explore:
            return action
        some = torch.rand(len(action), generator=generator, device=args.device) < args.explore
        other = np.concatenate([spaces.sample() for _ in range(len(action))])
        other = torch.as_tensor(other, dtype=action.dtype, device=args.device)
        return torch.where(some.reshape(-1, *[1] * (action.dim() - 1)), other, action)

    return act


def main(args: Args) -> dict[str, Any]:
    """Play, write, say what was written."""
    torch.set_num_threads(args.threads)
    package, provenance = gate(args)
    policy = None if args.run is None else agent_of(args, package)
    kind = "random" if args.run is None else "ppo"
    name = args.dataset or f"{args.env_id.rpartition('/')[2].rpartition('-')[0]}/{kind}-v0"
    about = {
        "algorithm_name": kind,
        "description": f"{args.env_id}, {kind}, {args.explore:.0%} of the actions at random",
        "author": args.author,
        "author_email": args.author_email,
    }
    dataset = export_minari(
        args.env_id, name, policy, episodes=args.episodes, seed=args.seed << 20, num_envs=args.num_envs,
        about=about, device=args.device, compile=args.compile,
    )  # fmt: skip
    returns = np.array([episode.rewards.sum() for episode in dataset.iterate_episodes()])
    steps, place = int(dataset.total_steps), str(dataset.storage.data_path)
    spread = returns.std(ddof=1) / len(returns) ** 0.5 if len(returns) > 1 else float("nan")
    text = f"{name}: {len(returns):,} episodes, {steps:,} steps, mean return {returns.mean():.2f} ± {spread:.2f}"
    Console().print(f"{text}\n{place}\nminari.load_dataset({name!r})", highlight=False, soft_wrap=True)
    return {
        "dataset": name,
        "path": place,
        "episodes": len(returns),
        "steps": steps,
        "return": float(returns.mean()),
        "digest": provenance["digest"],
    }


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
