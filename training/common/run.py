"""A training run: the gate, the run's folder, checkpoints, progress, and what is measured and drawn at the end.

A run's folder is `RUNS/ENV__EXP__SEED__TIME`. In it are environment.json (the digest of the report that opened the
gate, with all hashes behind it), checkpoint.pt, TensorBoard's files, curve.png and results.json.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import gymnasium as gym
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

import simulacrum
from common.arguments import EnvArgs, RunArgs, plain, taken_up
from common.curve import draw_curve
from common.measure import Act, measure, scripted_policies, summary, table
from common.memory import keep_memory

A = TypeVar("A", bound=RunArgs)
RECENT = 100  # episodes that the target return is asked of


def gate(args: EnvArgs) -> tuple[Any, dict[str, Any]]:
    """The package and what is to be kept of its report; the first thing a script does.

    Raises:
        GateError: no passing, full, fresh report; the message says which command mends it.
    """
    if args.register is not None:
        simulacrum.register_envs(args.register)
    package = simulacrum.load_package(gym.spec(args.env_id).kwargs["package"])
    return package, simulacrum.provenance(simulacrum.require_fresh_report(package))


def new_folder(args: EnvArgs, provenance: dict[str, Any]) -> Path:
    """Make the folder of a new run and say in it which environment the run is about."""
    name = f"{args.env_id.rpartition('/')[2]}__{args.exp}__{args.seed}__{time.strftime('%Y%m%d-%H%M%S')}"
    for path in (args.runs / name, *(args.runs / f"{name}-{number}" for number in range(2, 1000))):
        with contextlib.suppress(FileExistsError):  # two runs in one second
            path.mkdir(parents=True)
            (path / "environment.json").write_text(json.dumps(provenance, indent=1) + "\n")
            return path
    raise SystemExit(f"{args.runs / name} is there already; --runs names another place")


def write_results(folder: Path, args: Any, provenance: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """Write results.json, with the arguments and the environment's digest; returns what it holds."""
    about = {"folder": str(folder), "env_id": args.env_id, "digest": provenance["digest"], "args": plain(args)}
    body = {**about, **results}
    (folder / "results.json").write_text(json.dumps(body, indent=1) + "\n")
    return body


class Run(Generic[A]):
    """One run of a script, new or resumed. `args` are those that hold; `saved` is the checkpoint or None.

    A script reads `saved` to put its parts back, goes through `iterations` with `report` and `save`, and ends with
    `finish`. Of several processes that train together one is the `leader`: the others write and show nothing.

    Raises:
        GateError: the gate is closed.
        ProvenanceError: the run to resume was made with another environment; the message says what changed.
        SystemExit: nothing to resume there, or arguments that a resumed run cannot take.
    """

    def __init__(self, args: A, title: str, *, leader: bool = True) -> None:
        self.saved: dict[str, Any] | None = None
        if args.resume is not None:
            self.saved = _load(args.resume / "checkpoint.pt")
            args = taken_up(args, self.saved["args"])
        self.args, self.title, self.leader = args, title, leader
        keep_memory()
        torch.set_num_threads(args.threads)
        torch.manual_seed(args.seed)
        self.console = Console(quiet=not leader)
        self.package, self.provenance = gate(args)
        self.curve: list[list[float]] = []  # step, seconds, mean return, mean length, episodes
        self.seconds, self.done = 0.0, 0  # spent training, iterations
        self.step = 0
        self.reached = False  # the target return
        if self.saved is None or args.resume is None:
            self.folder = new_folder(args, self.provenance) if leader else args.runs
        else:
            self.folder = args.resume
            _require_same_env(self.saved, self.package, self.folder)
            self.curve, self.seconds = self.saved["curve"], self.saved["seconds"]
            self.done, self.step = self.saved["iterations"], self.saved["step"]
        if not leader:
            return
        self._tracked = _track(self.folder, args, title) if args.track else None
        self.writer = SummaryWriter(str(self.folder), purge_step=self.step or None)
        self.writer.add_text("arguments", "\n".join(f"    {key}: {value}" for key, value in plain(args).items()))
        self.writer.add_text("environment", f"    digest: {self.provenance['digest']}")

    def iterations(self, total: int, steps: int) -> Iterator[int]:
        """The iterations that are left, of `total` with `steps` environment steps each, while a progress line shows.

        It ends early after `stop_after` iterations or at the target return. In each, call `report`, then `save`.
        """
        args, self._total, self._steps, self._shown = self.args, total, steps, self.done
        self._stop = total if args.stop_after is None else min(total, self.done + args.stop_after)
        self.console.print(f"{self.title} on {args.env_id}: {total} iterations of {steps:,} steps", highlight=False)
        columns = (BarColumn(), TextColumn("{task.percentage:3.0f} %  {task.fields[shown]}"))
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        quiet = not self.console.is_terminal
        with Progress(*columns, *times, console=self.console, transient=True, disable=quiet) as self._progress:
            self._task = self._progress.add_task("training", total=total * steps, completed=self.step, shown="")
            while self.done < self._stop and not self.reached:
                yield self.done

    def report(self, took: float, episodes: tuple[float, float, float], numbers: dict[str, float]) -> bool:
        """One iteration is over: log and show it. True where the target return is reached.

        Args:
            took: seconds of the iteration.
            episodes: how many ended, the sum of their returns, the sum of their lengths.
            numbers: more for TensorBoard, by tag.
        """
        count, returns, lengths = episodes
        self.done, self.step, self.seconds = self.done + 1, self.step + self._steps, self.seconds + took
        speed = self._steps / took
        if count:
            self.curve.append([self.step, self.seconds, returns / count, lengths / count, count])
            numbers = {"episode/return": returns / count, "episode/length": lengths / count, **numbers}
        for key, number in {**numbers, "speed/steps_per_second": speed}.items() if self.leader else ():
            self.writer.add_scalar(key, number, self.step)
        # Of the iteration, or of the last one in which an episode ended.
        shown = f"return {self.curve[-1][2]:6.2f}" if self.curve else "no episode has ended"
        self._progress.update(self._task, completed=self.step, shown=f"{shown}  {speed:9,.0f} steps/s")
        self.reached = self.args.target_return is not None and self.recent >= self.args.target_return
        due = self.done - self._shown >= max(1, self._total // 10) or self.reached or self.done == self._total
        if due and not self.console.is_terminal:
            self._shown = self.done
            pace = f"{self.step / self.seconds:9,.0f} steps/s"
            self.console.print(f"{self.step:>12,} steps  {self.seconds:6.1f} s  {shown}  {pace}", highlight=False)
        return self.reached

    @property
    def recent(self) -> float:
        """Mean return of the last iterations that hold at least `RECENT` episodes; minus infinity before."""
        count, total = 0.0, 0.0
        for _, _, mean, _, episodes in reversed(self.curve):
            count, total = count + episodes, total + mean * episodes
            if count >= RECENT:
                return total / count
        return float("-inf")

    @property
    def due(self) -> bool:
        """Whether it is time to `save`: every `checkpoint_every` iterations, at the end, when stopping."""
        return self.done % self.args.checkpoint_every == 0 or self.done == self._stop or self.reached

    def save(self, **parts: Any) -> None:
        """Write a checkpoint. Ask `due` first: putting the parts together may copy a whole replay buffer.

        It replaces the last one in one step: killed at any moment, the run still has one.
        """
        if not self.leader:
            return
        state = {
            "args": plain(self.args),
            "environment": self.provenance,
            "iterations": self.done,
            "step": self.step,
            "seconds": self.seconds,
            "curve": self.curve,
            **parts,
        }
        torch.save(state, self.folder / "checkpoint.part")
        os.replace(self.folder / "checkpoint.part", self.folder / "checkpoint.pt")

    @property
    def unfinished(self) -> bool:
        """Stopped before its last iteration, as `stop_after` asked; there is a checkpoint to go on from."""
        return self.done < self._total and not self.reached

    def finish(self, trained: Act, **more: Any) -> dict[str, Any]:
        """Measure, show, draw, write; returns what results.json holds, or the folder alone where it is `unfinished`.

        Args:
            trained: the policy, for one row of the reference twin.
            more: more for results.json.
        """
        if not self.leader:
            return {}
        if self.unfinished:
            self.writer.close()
            text = f"stopped after {self.done} of {self._total} iterations: --resume {self.folder}"
            self.console.print(text, soft_wrap=True)
            return {"folder": str(self.folder)}
        policies = {f"{self.title}, trained": trained, **scripted_policies(self.package)}
        with self.console.status("measuring on the reference twin"):
            measured = {name: measure(self.args, act, params=self.args.params) for name, act in policies.items()}
        self.console.print(table(self.args, measured))
        for name, (returns, _) in measured.items():
            self.writer.add_scalar(f"reference/{name.partition(',')[0]}", float(returns.mean()), self.step)
        draw_curve(self.folder / "curve.png", self.args, self.curve, measured, self.title)
        speed = self.step / self.seconds
        results = {
            "seconds": self.seconds,
            "steps": self.step,
            "steps_per_second": speed,
            "reached_target": self.reached,
            "curve": self.curve,
            "reference": {name: summary(*numbers) for name, numbers in measured.items()},
            **more,
        }
        self.writer.close()
        if self._tracked is not None:
            self._tracked.finish()
        self.console.print(f"trained in {self.seconds:.0f} s, {speed:,.0f} steps/s with the updates", highlight=False)
        where = f"curve: {self.folder / 'curve.png'}\nTensorBoard: tensorboard --logdir {self.args.runs}"
        self.console.print(where, soft_wrap=True)
        return write_results(self.folder, self.args, self.provenance, results)


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SystemExit(f"nothing to resume: {path} is not there; --resume takes a run's folder")
    return torch.load(path, weights_only=True)


def _require_same_env(saved: dict[str, Any], package: Any, folder: Path) -> None:
    state = simulacrum.require_fresh_report(package)
    simulacrum.require_same_env(saved.get("environment", {}), state, where=folder)


def _track(folder: Path, args: EnvArgs, title: str) -> Any:
    """A run of Weights & Biases that follows the TensorBoard files; it must begin before they are opened."""
    try:
        import wandb
    except ImportError:
        raise SystemExit("--track needs wandb: pip install 'simulacrum[track]'") from None
    return wandb.init(
        project="simulacrum", name=folder.name, group=args.env_id, job_type=title, config=plain(args),
        dir=str(folder), sync_tensorboard=True,
    )  # fmt: skip
