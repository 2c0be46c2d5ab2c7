"""`determinism`: the same seeds and actions give the same bits, in this process and in a fresh one.

One rollout is the measure. It is run again in other circumstances, none of which may change a bit: a second time, in
an env with a past, beside another env, with the global generators elsewhere, with observations read in between, with
everything that was returned overwritten, from a saved state, and in another process.
"""

from __future__ import annotations

from typing import Any

import torch

from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed
from simulacrum.harness.circumstances import CIRCUMSTANCES, generators, moved
from simulacrum.harness.fresh import Other, Rollouts, checksums, launch, world_of
from simulacrum.harness.recording import Recording

FULL = Rollouts(seed=0, rows=65, steps=40, limit=13, wide=40_000)
QUICK = Rollouts(seed=0, rows=17, steps=20, limit=7, wide=0)


def run(bench: Bench) -> Outcome:
    """Every circumstance in turn while the other process works; the first that changes a bit ends the check."""
    size = QUICK if bench.quick else FULL
    rollouts = Rollouts(bench.seed + 11, size.rows, size.steps, size.limit, size.wide, bench.device)
    world = world_of(bench, rollouts)
    threads = 2 if torch.get_num_threads() == 1 else 1
    other = launch(bench.package, rollouts, threads=threads)
    try:
        before = generators()
        first = world.run(range(world.size))
        problem = moved(before)
        held: list[str] = []
        for what, again in CIRCUMSTANCES.items():
            bench.say(what, len(held), len(CIRCUMSTANCES) + 1)
            problem = problem or again(world, first)
            if problem is not None:
                return failed(problem[0], problem[1], held=held)
            held.append(what)
        bench.say("a fresh process", len(held), len(CIRCUMSTANCES) + 1)
        return _judged(bench, rollouts, other, first, held)
    finally:
        if other.process.poll() is None:
            other.process.kill()
            other.process.communicate()


def _judged(bench: Bench, rollouts: Rollouts, other: Other, first: Recording, held: list[str]) -> Outcome:
    here, there = checksums(bench.package, rollouts), other.result()
    evidence: dict[str, Any] = {
        "held": held,
        "fresh_process": there,
        "threads_here": torch.get_num_threads(),
        "episodes_ended": int(first.ends.sum()),
        "compared_transitions": first.transitions,
        "checksum": here["batched"],
    }
    if "error" in there:
        return failed(f"the fresh process failed: {there['error']}", **evidence)
    for name, value in here.items():
        if there[name] != value:
            settings = ", ".join(f"{k}={v}" for k, v in there["settings"].items())
            return failed(f"the {name} rollout has other bits in a fresh process ({settings})", **evidence)
    if not first.ends.any():
        return inconclusive("no episode ended in the rollout", **evidence)
    return passed(f"{len(held)} circumstances and a fresh process, all the same bits", **evidence)
