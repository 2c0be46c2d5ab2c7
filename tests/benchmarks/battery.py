"""What comparing costs: transitions per second of `differential` beside the reference twin stepping alone.

    python tests/benchmarks/battery.py                        toywalk and forager, 5 rounds
    python tests/benchmarks/battery.py forager --rounds 9     one environment
    python tests/benchmarks/battery.py --wall                 and the wall time of a whole `simulacrum validate`
    python tests/benchmarks/battery.py --mutants 20           and mutants a minute, from `simulacrum mutate --sample 20`
    python tests/benchmarks/battery.py --json figures.json    and keep the raw figures

In each round the reference twin steps alone and then in lockstep with the eager batched twin, with the same rows, seeds
and actions and nothing watched; then the native form does the same steps and is held against the eager one. Ratios are
medians of the ratios within each round, by processor time of this process. "alone" is the reference as anybody steps
it, through the engine's own single-instance runner, which checks what the twin returns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from simulacrum.contract.package import load_package
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.harness import drivers
from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.frames import row_actions, take
from simulacrum.harness.lockstep import Lockstep
from simulacrum.harness.recording import Recording, parting, record

ROWS, STEPS = 256, 60  # about as the batches of `differential` that do most of its comparing
SEED = 7


@dataclass
class Figures:
    """Transitions per processor second, one figure a round."""

    alone: list[float] = field(default_factory=list[float])
    lockstep: list[float] = field(default_factory=list[float])
    native: list[float] = field(default_factory=list[float])

    def share(self, one: str) -> float:
        """How fast `one` is by the reference alone: the median of the ratios within each round."""
        pairs = zip(getattr(self, one), self.alone, strict=True)
        return statistics.median(figure / alone for figure, alone in pairs)


class Rounds:
    """One environment and what its rounds share: the actions, the seeds, the batch."""

    def __init__(self, name: str) -> None:
        self.bench = Bench(load_package(name))
        self.seeds = seeds_for(ROWS, SEED)
        driver = drivers.standard(self.bench.schema, ROWS, SEED)
        self.actions = [driver.actions({}, step) for step in range(STEPS)]
        self.figures = Figures()
        self.bench.native  # noqa: B018  # builds it, outside of what is timed

    def round(self) -> None:
        """All three, one after the other."""
        self.figures.alone.append(_rate(self._alone))
        lock, seconds = _timed(self._lockstep)
        self.figures.lockstep.append(ROWS * STEPS / seconds)
        plain = Recording(lock.env, self.seeds, lock.actions, [frame for _, frame in lock.frames])
        self.figures.native.append(_rate(lambda: self._native(plain)))

    def _alone(self) -> None:
        limit, schema = self.bench.schema.max_episode_steps, self.bench.schema
        columns = [[row_actions(schema, take(batch, [row]))[0] for batch in self.actions] for row in range(ROWS)]
        for seed, column in zip(self.seeds, columns, strict=True):
            runner = ReferenceRunner(self.bench.package, max_episode_steps=limit)
            runner.reset(seed)
            for action in column:
                if runner.ended:  # as in NEXT_STEP: the action of this step is not used
                    runner.reset()
                else:
                    runner.step(action)

    def _lockstep(self) -> Lockstep:
        lock = Lockstep(self.bench, self.bench.env(ROWS))
        found = lock.reset(self.seeds)
        for actions in self.actions:
            found = found or lock.step(actions)
        if found is not None:
            raise SystemExit(f"battery.py: the twins part in {found.difference.path}: nothing to measure")
        return lock

    def _native(self, plain: Recording) -> None:
        other = record(self.bench.env(ROWS, form="native"), self.seeds, self.actions)
        if parting(self.bench, plain, other, range(ROWS), range(ROWS)) is not None:
            raise SystemExit("battery.py: the native form parts from the eager one: nothing to measure")


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    made = work()
    return made, time.process_time() - began


def _rate(work: Callable[[], Any]) -> float:
    return ROWS * STEPS / _timed(work)[1]


def command(*words: str) -> tuple[float, str]:
    """Wall seconds and output of a simulacrum command; SystemExit where it fails."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "simulacrum", *words], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"battery.py: simulacrum {' '.join(words)} failed: {done.stderr[-500:]}")
    return time.perf_counter() - began, done.stdout


def measure(names: Sequence[str], rounds: int) -> dict[str, Figures]:
    """The figures of some environments, which take turns in each round; a first round does not count."""
    made = {name: Rounds(name) for name in names}
    for number in range(rounds + 1):
        for name, one in made.items():
            print(f"\rround {number} of {rounds}: {name:<20}", end="", file=sys.stderr, flush=True)
            if number == 0:
                one.round()
                one.figures = Figures()
            else:
                one.round()
    print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
    return {name: one.figures for name, one in made.items()}


def table(figures: dict[str, Figures]) -> str:
    """As Markdown: thousands of transitions per processor second, and the shares."""
    lines = [
        "| environment | reference alone | lockstep | lockstep / alone | native beside eager | native / alone |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, one in figures.items():
        middle = [statistics.median(values) / 1e3 for values in (one.alone, one.lockstep, one.native)]
        cells = [name, *(f"{k:.1f} k" for k in middle[:2]), f"{one.share('lockstep'):.2f}"]
        lines.append(f"| {' | '.join(cells)} | {middle[2]:.0f} k | {one.share('native'):.1f} |")
    return "\n".join(lines)


def main() -> int:
    """The command line; 2 for wrong usage."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=["toywalk", "forager"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--wall", action="store_true", help="time a whole validation of each")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="judge N mutants of each")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("--rounds: at least 1")
    figures = measure(given.names, given.rounds)
    print(table(figures))
    raw: dict[str, Any] = {name: asdict(one) for name, one in figures.items()}
    for name in given.names if given.wall else ():
        seconds, _ = command("validate", name, "--json")
        raw[name]["validation_seconds"] = seconds
        print(f"simulacrum validate {name}: {seconds:.1f} s")
    for name in given.names if given.mutants else ():
        seconds, _ = command("mutate", name, "--sample", str(given.mutants), "--json")
        raw[name]["mutants_per_minute"] = given.mutants / seconds * 60
        print(f"simulacrum mutate {name} --sample {given.mutants}: {given.mutants / seconds * 60:.1f} mutants a minute")
    if given.json is not None:
        given.json.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
