"""What the batched twin is worth to a training: training/ppo.py on it and on the reference twin, in one run.

    python tests/benchmarks/training_reference.py pong      a table, and docs/assets/training-reference.json
    python tests/benchmarks/training_reference.py pong --rows 64 --steps 128 --minibatch 2048

Both are the same script with the same settings and seeds. One makes its environment with `gymnasium.make_vec`, in the
form that was validated (native on a CPU); the other steps `gymnasium.vector.SyncVectorEnv` over as many
`gymnasium.make`. Draws do not depend on who asks for them, so both learn the same: after each window the parameters of
both policies are hashed, and two hashes that differ end the run. Each is a process of its own with one thread. They
train by turns, a window of some iterations each; compiling comes before the first. A ratio is the median of the ratios
within each round.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from suite import machine
from suite.workers import ONE_THREAD

import training

ROOT = Path(__file__).parents[2]
SIDES = ("native", "reference")
# What is alike on both sides: those of training/ppo.py, unless they are given.
SETTINGS = {"num_envs": 1024, "num_steps": 32, "minibatch": 4096, "epochs": 3}


class Trainer(training.Trainer):
    """training/ppo.py on one side, in a process of its own."""

    def __init__(self, side: str, env_id: str, settings: dict[str, Any], window: int) -> None:
        self.settings = {**settings, "window": window}
        words = [sys.executable, str(Path(__file__)), "--side", side, env_id, "--settings", json.dumps(settings)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **ONE_THREAD},
        )  # fmt: skip
        self.about = self._answer()


class Stepped:
    """N environments of `gymnasium.make`, stepped one after the other, with the face that training/ppo.py asks for.

    Tensors `[N, ...]` (dicts of them for a Dict space); autoreset in the same step, final observations dense.
    """

    def __init__(self, env_id: str, num_envs: int) -> None:
        import gymnasium as gym
        import torch

        def make() -> Any:
            return gym.make(env_id, disable_env_checker=True)

        self.torch = torch
        mode = gym.vector.AutoresetMode.SAME_STEP
        self.envs: Any = gym.vector.SyncVectorEnv([make] * num_envs, autoreset_mode=mode)
        self.single_observation_space = self.envs.single_observation_space
        self.single_action_space = self.envs.single_action_space
        self.returns, self.lengths = torch.zeros(num_envs), torch.zeros(num_envs, dtype=torch.int32)

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        observation, info = self.envs.reset(seed=seed)
        return self._tensors(observation), self._masked(info)

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        torch = self.torch
        observation, *rest, info = self.envs.step(action.numpy())
        reward, terminated, truncated = (torch.from_numpy(value) for value in rest)
        observation, ended, reward = self._tensors(observation), terminated | truncated, reward.float()
        final = {k: v.clone() for k, v in observation.items()} if isinstance(observation, dict) else observation.clone()
        for row in ended.nonzero().flatten().tolist():
            last = info["final_obs"][row]
            if isinstance(final, dict):
                for key, value in last.items():
                    final[key][row] = torch.as_tensor(value)
            else:
                final[row] = torch.as_tensor(last)
        self.returns, self.lengths = self.returns + reward, self.lengths + 1
        told = {"r": torch.where(ended, self.returns, 0.0), "l": torch.where(ended, self.lengths, 0)}
        self.returns, self.lengths = torch.where(ended, 0.0, self.returns), torch.where(ended, 0, self.lengths)
        more = {"final_obs": final, "episode": told, "_episode": ended, **self._masked(info)}
        return observation, reward, terminated, truncated, more

    def _masked(self, info: dict[str, Any]) -> dict[str, Any]:
        given = info.get("action_mask")
        return {} if given is None else {"action_mask": self.torch.from_numpy(given.astype(bool))}

    def _tensors(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._tensors(one) for key, one in value.items()}
        return self.torch.from_numpy(value.copy())  # the vector env writes into its array again

    def close(self) -> None:
        self.envs.close()


def train(side: str, env_id: str, settings: dict[str, Any]) -> None:
    """The process of one side; its loop waits between windows, as training_peer.py has it."""
    from training_peer import Channel

    channel = Channel()
    sys.path.insert(0, str(ROOT / "training"))
    import torch

    import ppo

    parts: dict[str, Any] = {}

    class Learner(ppo.Learner):
        def learn(self, *args: Any) -> Any:
            made = super().learn(*args)
            # What has been learned: not part of what is timed alone, but some microseconds of it.
            parts["parameters"] = hashlib.sha256(self.flat.numpy().tobytes()).hexdigest()
            return made

    class Run(ppo.Run):
        def iterations(self, total: int, steps: int) -> Any:
            left = super().iterations(total, steps)
            for count in channel.windows(f"torch {torch.__version__}", steps, parts):
                for _ in range(count):
                    yield next(left)
            sys.exit(0)

    ppo.Run, ppo.Learner = Run, Learner
    if side == "reference":
        ppo.gym.make_vec = lambda env_id, num_envs, **_: Stepped(env_id, num_envs)
    with tempfile.TemporaryDirectory() as runs:
        ppo.main(ppo.Args(env_id=env_id, runs=Path(runs), total_steps=10**9, checkpoint_every=10**9, **settings))


def compare(env_id: str, settings: dict[str, Any], rounds: int, window: int) -> dict[str, Any]:
    """Windows of both sides by turns. Raises SystemExit where the two have not learned the same."""
    trainers = {side: Trainer(side, env_id, settings, window) for side in SIDES}
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for number in range(rounds):
        for side in SIDES if number % 2 else SIDES[::-1]:
            found[side].append(trainers[side].window())
        hashes = {found[side][-1]["parts"]["parameters"] for side in SIDES}
        if len(hashes) > 1:
            raise SystemExit(f"{env_id}: after {number + 1} windows the two trainings have learned different things")
    for trainer in trainers.values():
        trainer.close()
    pairs = list(zip(*found.values(), strict=True))
    rows = {
        side: {by: statistics.median(training.rates(windows, by)) for by in ("cpu", "wall")}
        for side, windows in found.items()
    }
    ratios = {by: statistics.median(slow[by] / fast[by] for fast, slow in pairs) for by in ("cpu", "wall")}
    return {"settings": settings, "window": window, "sides": rows, "ratios": ratios, "windows": found}


def table(results: dict[str, Any]) -> str:
    """Markdown: environment steps by CPU-second of training, learning included."""
    lines = [
        "| environment | on the reference twin | on the batched twin | times | by the clock, times |",
        "|---|---|---|---|---|",
    ]
    for env_id, row in results["environments"].items():
        slow, fast = (row["sides"][side]["cpu"] for side in ("reference", "native"))
        ratios = row["ratios"]
        lines.append(f"| {env_id} | {slow:,.0f} | {fast:,.0f} | {ratios['cpu']:.1f} | {ratios['wall']:.1f} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", nargs="+", help="names or ids")
    parser.add_argument("--rows", type=int, default=SETTINGS["num_envs"])
    parser.add_argument("--steps", type=int, default=SETTINGS["num_steps"], help="of every row between updates")
    parser.add_argument("--minibatch", type=int, default=SETTINGS["minibatch"])
    parser.add_argument("--epochs", type=int, default=SETTINGS["epochs"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--window", type=int, default=1, help="iterations of each side in a round")
    parser.add_argument("--out", type=Path, default=training.ASSETS, help="folder of what is written")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--settings", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.side:
        train(args.side, args.environments[0], json.loads(args.settings))
    import simulacrum

    settings = {"num_envs": args.rows, "num_steps": args.steps, "minibatch": args.minibatch, "epochs": args.epochs}
    results: dict[str, Any] = {"machine": machine.describe(), "environments": {}}
    for name in args.environments:
        env_id = simulacrum.load_package(name).schema.id
        results["environments"][env_id] = compare(env_id, settings, args.rounds, args.window)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "training-reference.json").write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))
    return results


if __name__ == "__main__":
    main()
