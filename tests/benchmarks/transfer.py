"""How often `simulacrum transfer` calls twins equivalent that are not: faults of known effect, planted in toywalk.

    python tests/benchmarks/transfer.py                        80 trainings, about two minutes of one processor
    python tests/benchmarks/transfer.py --pool pool.json       keep the trainings, or take them from there
    python tests/benchmarks/transfer.py --picture transfer.png --json transfer.json

A pool of policies is trained by the built-in learner, briefly, so that their returns differ. Every policy plays the
same episodes in the honest batched twin and in faulty ones: each step costs more (by construction the return falls by
that for each step), or a move slips more often (the fall is measured over all of the pool).

Then studies are drawn from the pool, with replacement: n mean returns of the faulty twin against n of the honest one.
The pool is the population, so the true difference of means is known and not estimated. How often the Welch form of the
test then says "equivalent" is its rate of false acceptance where the difference is the margin or more, and its power
where there is none. Beside it stands what normal returns of the same spread would give.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy import stats

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.plots import Rates
from simulacrum.plots import rates as draw_rates
from simulacrum.transfer.learner import ROWS, train
from simulacrum.transfer.policies import Policy
from simulacrum.transfer.sides import returns, vector_env
from simulacrum.transfer.tost import power

TOYWALK = Path(__file__).parents[2] / "envs" / "toywalk"
COST = "torch.full_like(at_goal, STEP_REWARD"
# Faulty twins: an old text of fast.py and the new one.
FAULTS = {
    "cost": (COST, f"{COST} - 0.125"),
    "double cost": (COST, f"{COST} - 0.25"),
    "slip": ("ctx.params.slip)", "ctx.params.slip + 0.05)"),
}
STEPS, EPISODES, ALPHA = 6_144, 128, 0.05
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)  # the true difference as a share of the margin
SIZES = (5, 10, 20, 40)


@dataclass(frozen=True)
class Pool:
    """Mean returns of each policy, by twin: "honest" and the names of `FAULTS`."""

    means: dict[str, list[float]]

    def of_cost(self, difference: float) -> np.ndarray:
        """Mean returns in a twin whose steps cost just so much more that the pool's mean falls by `difference`."""
        honest, cost = np.array(self.means["honest"]), np.array(self.means["cost"])
        fall = honest - cost
        return honest - fall * (difference / fall.mean())

    @property
    def spread(self) -> float:
        """Of the honest means, over the pool."""
        return float(np.std(self.means["honest"], ddof=1))


def planted(folder: Path, name: str) -> EnvPackage:
    """A copy of toywalk with a fault of `FAULTS` in its batched twin."""
    copy = folder / name.replace(" ", "_") / "toywalk"
    shutil.copytree(TOYWALK, copy, ignore=shutil.ignore_patterns("__pycache__", "validation_report*", "native-*"))
    if name != "honest":
        old, new = FAULTS[name]
        text = (copy / "fast.py").read_text()
        assert old in text, f"{old} is no longer in fast.py"
        (copy / "fast.py").write_text(text.replace(old, new, 1))
    return load_package(copy)


def made_pool(size: int, steps: int, episodes: int) -> Pool:
    """Train `size` policies in the honest twin, and let each play in all twins."""
    means: dict[str, list[float]] = {name: [] for name in ("honest", *FAULTS)}
    with tempfile.TemporaryDirectory() as folder:
        twins = {name: planted(Path(folder), name) for name in means}
        for seed in range(1, size + 1):
            envs = vector_env(twins["honest"], "batched", ROWS, "eager")
            policy = Policy(str(seed), batch=train(envs, seed, steps))
            for name, twin in twins.items():
                means[name].append(float(returns(twin, "batched", policy, episodes, "eager").mean()))
            print(f"\rtrained {seed} of {size}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return Pool(means)


def rate(a: np.ndarray, b: np.ndarray, margin: float, n: int, repetitions: int, alpha: float) -> float:
    """How often n of `a` and n of `b` are called equivalent, over so many draws."""
    generator = np.random.default_rng(n)
    x, y = (side[generator.integers(len(side), size=(repetitions, n))] for side in (a, b))
    return float(accepted(x, y, margin, alpha).mean())


def accepted(x: np.ndarray, y: np.ndarray, margin: float, alpha: float = ALPHA) -> np.ndarray:
    """`simulacrum.transfer.tost.tost` of each row of `[R, n]` and `[R, n]`: whether it says "equivalent"."""
    parts = [side.var(axis=1, ddof=1) / side.shape[1] for side in (x, y)]
    error = np.sqrt(parts[0] + parts[1])
    below = parts[0] ** 2 / (x.shape[1] - 1) + parts[1] ** 2 / (y.shape[1] - 1)
    degrees = np.where(below > 0, (parts[0] + parts[1]) ** 2 / np.where(below > 0, below, 1), 1e6)
    half = stats.t.ppf(1 - alpha, degrees) * error
    difference = x.mean(axis=1) - y.mean(axis=1)
    return (difference - half > -margin) & (difference + half < margin)


def curves(pool: Pool, margin: float, repetitions: int, alpha: float) -> list[dict[str, float]]:
    """The rate of "equivalent" for each n and each true difference, with real returns and with normal ones."""
    honest, rows = np.array(pool.means["honest"]), []
    for n in SIZES:
        for share in SHARES:
            faulty = pool.of_cost(share * margin)
            spreads = (float(faulty.std()), float(honest.std()))
            real = rate(faulty, honest, margin, n, repetitions, alpha)
            normal = power(spreads, (n, n), margin=margin, alpha=alpha, difference=share * margin)
            rows.append({"n": n, "share": share, "real": real, "normal": normal})
    return rows


def at_the_margin(pool: Pool, repetitions: int, alpha: float) -> list[dict[str, object]]:
    """Margins that are just the effect of a fault, half of it and four times it."""
    honest, rows = np.array(pool.means["honest"]), []
    for name in FAULTS:
        faulty = np.array(pool.means[name])
        effect = abs(float(faulty.mean() - honest.mean()))
        for n in SIZES:
            rates = {str(k): rate(faulty, honest, k * effect, n, repetitions, alpha) for k in (0.5, 1.0, 4.0)}
            rows.append({"fault": name, "effect": effect, "n": n, **rates})
    return rows


def draw(rows: list[dict[str, float]], path: Path, margin: float, spread: float, alpha: float) -> None:
    """The rates as a picture."""
    every = []
    for n in dict.fromkeys(row["n"] for row in rows):
        own = [row for row in rows if row["n"] == n]
        shares, real, normal = ([row[key] for row in own] for key in ("share", "real", "normal"))
        every.append(Rates(f"{n} trainings a twin", shares, real, normal))
    title = (
        f"toywalk, planted cost of a step; margin {margin:.2f}, spread of policies {spread:.2f}\n"
        "markers: returns of trained policies; lines: normal returns of the same spread"
    )
    draw_rates(path, every, level=alpha, title=title)


def main(words: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=int, default=80, help="trainings in the pool")
    parser.add_argument("--steps", type=int, default=STEPS, help="of each training")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of each policy in each twin")
    parser.add_argument("--margin", type=float, help="of the first table; default: 1.5 spreads of the policies")
    parser.add_argument("--alpha", type=float, default=ALPHA, help="level of each one-sided test")
    parser.add_argument("--repetitions", type=int, default=20_000, help="studies for each figure")
    parser.add_argument("--pool", type=Path, help="file of the pool; made where it is not there")
    parser.add_argument("--picture", type=Path, help="a PNG of the first table")
    parser.add_argument("--json", type=Path, help="the figures")
    args = parser.parse_args(words)
    if args.policies < 3:
        parser.error("a pool has at least 3 policies")
    torch.set_num_threads(1)
    if args.pool is not None and args.pool.exists():
        pool = Pool(json.loads(args.pool.read_text()))
    else:
        pool = made_pool(args.policies, args.steps, args.episodes)
        if args.pool is not None:
            args.pool.write_text(json.dumps(pool.means))
    margin = args.margin or 1.5 * pool.spread
    rows, faults = curves(pool, margin, args.repetitions, args.alpha), at_the_margin(pool, args.repetitions, args.alpha)
    mean = float(np.mean(pool.means["honest"]))
    size = len(pool.means["honest"])
    print(f"{size} policies, mean return {mean:.2f}, spread {pool.spread:.2f}; margin {margin:.2f}\n")
    print("| true difference / margin | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|--:|" + "--:|" * len(SIZES))
    for share in SHARES:
        cells = [f"{row['real']:.3f} ({row['normal']:.3f})" for row in rows if row["share"] == share]
        print(f"| {share:.2f} | " + " | ".join(cells) + " |")
    print("\n| fault | effect on the return | n | margin: half the effect | the effect | four times it |")
    print("|---|--:|--:|--:|--:|--:|")
    for row in faults:
        print(f"| {row['fault']} | {row['effect']:.3f} | {row['n']} | " + " | ".join(
            f"{row[key]:.3f}" for key in ("0.5", "1.0", "4.0")) + " |")
    if args.picture is not None:
        draw(rows, args.picture, margin, pool.spread, args.alpha)
    if args.json is not None:
        args.json.write_text(json.dumps({"margin": margin, "spread": pool.spread, "curves": rows, "faults": faults}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
