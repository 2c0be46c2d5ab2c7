"""Arguments that every script has, in three pieces; a script's own `Args` inherits those it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

A = TypeVar("A", bound="RunArgs")


@dataclass
class EnvArgs:
    env_id: str = "simulacrum/forager-v0"  # id of a registered environment
    register: Path | None = None  # folder of an environment package to register first
    exp: str = "exp"  # name of the experiment, a part of the run's folder name
    seed: int = 1  # of the network, the sampling and the environment's rows
    runs: Path = Path("runs")  # where the run's folder is made
    device: str = "cpu"  # where environment and network live
    threads: int = 1  # threads of torch; more than the free cores makes everything slower
    compile: str | None = None  # form of the environment: eager, native, inductor; the fastest validated one by default


@dataclass
class EvalArgs:
    eval_episodes: int = 100  # episodes on the reference twin at the end, for each seed
    eval_seeds: int = 5  # seeds to measure with
    eval_limit: int = 10_000  # steps after which an episode is given up, where nothing else ends it


@dataclass
class RunArgs(EvalArgs, EnvArgs):
    resume: Path | None = None  # run folder to go on with; its arguments hold, only --stop-after may be new
    stop_after: int | None = None  # stop after so many iterations and save, as if interrupted
    checkpoint_every: int = 20  # iterations between checkpoints; the last one is always saved
    target_return: float | None = None  # stop where the last 100 episodes have at least this mean return
    params: dict[str, bool | int | float] = field(default_factory=dict[str, bool | int | float])  # the environment's
    track: bool = False  # send the TensorBoard curves to Weights & Biases as well (the extra `track`)


def plain(args: Any) -> dict[str, Any]:
    """The arguments as text, numbers and lists, for checkpoints and results."""
    return {key: str(value) if isinstance(value, Path) else value for key, value in vars(args).items()}


def taken_up(args: A, saved: dict[str, Any]) -> A:
    """The arguments of a resumed run: those it began with. Others would make it another run."""
    kind = type(args)
    asked, usual = plain(args), plain(kind())
    other = [f"--{key.replace('_', '-')}" for key in asked if asked[key] not in (usual[key], saved.get(key))]
    other = [name for name in other if name not in ("--resume", "--stop-after")]
    if other:
        raise SystemExit(f"a resumed run keeps its arguments; leave out {', '.join(other)}")
    paths = {key: Path(saved[key]) for key in ("runs", "register") if saved[key] is not None}
    return kind(**{**saved, **paths, "resume": args.resume, "stop_after": args.stop_after})
