"""Training speed, learning included: training/ppo.py beside other trainers, in turns, in one run.

    python tests/benchmarks/training.py --purejaxrl DIR --cleanrl DIR      docs/assets/training.json and the table
    python tests/benchmarks/training.py --breakdown                        where the time goes, by size of the network

PureJaxRL and CleanRL are in no package registry: DIR is a clone. Without one, the peer is left out with a word. Every
trainer is a process of its own with one thread (training_peer.py), and trains a window of some iterations when it is
its turn; windows are told in environment steps by CPU-second and by the clock. Compiling comes before the first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from suite import machine, venvs
from suite.workers import ONE_THREAD

PEER = Path(__file__).parent / "training_peer.py"
ASSETS = Path(__file__).parents[2] / "docs" / "assets"

# rows x steps between updates; how often the batch is cut and gone through; iterations in a window
WIDE = {"rows": 2048, "steps": 32, "minibatches": 32, "epochs": 4, "window": 4}
NARROW = {"rows": 64, "steps": 128, "minibatches": 4, "epochs": 4, "window": 8}
SB3_DEFAULTS = {"rows": 8, "steps": 2048, "minibatches": 256, "epochs": 10, "window": 1}
TRAINERS: dict[str, tuple[str, str, dict[str, int]]] = {
    "ppo.py, 2048 rows": ("ours", "training/ppo.py", WIDE),
    "PureJaxRL, 2048 rows": ("purejaxrl", "purejaxrl/ppo.py", WIDE),
    "ppo.py, 64 rows": ("ours", "training/ppo.py", {**NARROW, "window": 16}),
    "CleanRL, 64 rows": ("cleanrl", "cleanrl/ppo.py", {**NARROW, "window": 2}),
    "SB3, 64 rows": ("sb3", "PPO, DummyVecEnv of the reference twin", {**NARROW, "window": 2}),
    "SB3, 8 rows": ("sb3", "PPO, its defaults, DummyVecEnv of the reference twin", SB3_DEFAULTS),
}
PAIRS = [
    ("ppo.py, 2048 rows", "PureJaxRL, 2048 rows"),
    ("ppo.py, 64 rows", "CleanRL, 64 rows"),
    ("ppo.py, 64 rows", "SB3, 64 rows"),
    ("ppo.py, 2048 rows", "SB3, 8 rows"),
]


class Trainer:
    """One process of one trainer; `window` trains and returns {"steps", "wall", "cpu", "parts"}."""

    def __init__(self, peer: str, settings: dict[str, Any]) -> None:
        python = venvs.python_of(peer) if peer in venvs.TRAINERS else Path(sys.executable)
        self.settings = settings
        self.process = subprocess.Popen(
            [str(python), str(PEER), peer, json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, **ONE_THREAD},
        )  # fmt: skip
        self.about = self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            # `args` is the list that it was started with.
            raise SystemExit(f"a trainer ended early; run it by hand: {' '.join(map(str, self.process.args))}")  # type: ignore[arg-type]
        return json.loads(line)

    def window(self) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{self.settings['window']}\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=120)
        self.process.stdout.close()


def rates(windows: list[dict[str, Any]], by: str) -> list[float]:
    return [window["steps"] / window[by] for window in windows]


def compare(names: list[str], clones: dict[str, str | None], rounds: int) -> dict[str, Any]:
    """Windows of every trainer, one each in every round, beginning with another each time."""
    trainers: dict[str, Trainer] = {}
    for name in names:
        peer, _, settings = TRAINERS[name]
        clone = clones.get(peer)
        if peer in clones and clone is None:
            print(f"{name}: left out; --{peer} DIR takes a clone of its repository")
            continue
        if peer in venvs.TRAINERS and venvs.ensure([peer]):
            continue
        print(f"starting {name}")
        trainers[name] = Trainer(peer, {**settings, "clone": clone})
        trainers[name].window()
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in trainers}
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}")
        order = list(trainers)
        first = number % max(1, len(order))
        for name in order[first:] + order[:first]:
            found[name].append(trainers[name].window())
    for trainer in trainers.values():
        trainer.close()
    rows = {
        name: {
            "what": TRAINERS[name][1],
            "settings": TRAINERS[name][2],
            **trainers[name].about,
            "cpu": statistics.median(rates(windows, "cpu")),
            "wall": statistics.median(rates(windows, "wall")),
            "windows": windows,
        }
        for name, windows in found.items()
    }
    ratios = {
        f"{one} / {other}": statistics.median(
            a / b for a, b in zip(rates(found[one], "cpu"), rates(found[other], "cpu"), strict=True)
        )
        for one, other in PAIRS
        if one in found and other in found
    }
    return {"machine": machine.describe(), "trainers": rows, "ratios": ratios}


def table(results: dict[str, Any]) -> str:
    """Markdown for docs/training.md."""
    lines = ["| trainer | rows x steps, cuts x passes | steps by CPU-second | by the clock |", "|---|---|---|---|"]
    for name, row in results["trainers"].items():
        size = row["settings"]
        cuts = f"{size['rows']} x {size['steps']}, {size['minibatches']} x {size['epochs']}"
        lines.append(f"| {name} | {cuts} | {row['cpu']:,.0f} | {row['wall']:,.0f} |")
    lines += ["", "| ratio, by CPU-second | |", "|---|---|"]
    lines += [f"| {pair} | {ratio:.2f} |" for pair, ratio in results["ratios"].items()]
    return "\n".join(lines)


SIZES = {64: {**WIDE, "window": 2}, 256: {**WIDE, "window": 1}, 1024: {**WIDE, "rows": 512, "window": 1}}
SHARE = "share of the CPU time of an iteration"


def breakdown() -> dict[str, dict[str, float]]:
    """Shares of the CPU time of an iteration, by width of the hidden layers."""
    shares: dict[str, dict[str, float]] = {}
    for width, settings in SIZES.items():
        trainer = Trainer("ours", {**settings, "width": width})
        windows = [trainer.window() for _ in range(2)]
        trainer.close()
        last = windows[-1]
        shares[str(width)] = {part: seconds / last["cpu"] for part, seconds in last["parts"].items()}
        shares[str(width)]["the rest"] = 1 - sum(shares[str(width)].values())
        told = ", ".join(f"{part} {share:.1%}" for part, share in shares[str(width)].items())
        print(f"2 x {width}: {told}; {rates([last], 'cpu')[0]:,.0f} steps by CPU-second")
    return shares


def draw(shares: dict[str, dict[str, float]], path: Path) -> None:
    """A bar for each width of the hidden layers."""
    from simulacrum.plots import shares as shares_of

    shares_of(path, {f"2 x {width}": parts for width, parts in shares.items()}, x_label=SHARE, y_label="hidden layers")


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--purejaxrl", help="a clone of luchris429/purejaxrl")
    parser.add_argument("--cleanrl", help="a clone of vwxyzjn/cleanrl")
    parser.add_argument("--only", nargs="*", choices=TRAINERS, help="these trainers alone")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--breakdown", action="store_true", help="where the time goes, instead")
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder of what is written")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.breakdown:
        results: dict[str, Any] = breakdown()
        draw(results, args.out / "training-breakdown.png")
        (args.out / "training-breakdown.json").write_text(json.dumps(results, indent=1) + "\n")
        return results
    clones = {"purejaxrl": args.purejaxrl, "cleanrl": args.cleanrl}
    results = compare(args.only or list(TRAINERS), clones, args.rounds)
    (args.out / "training.json").write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))
    return results


if __name__ == "__main__":
    main()
