"""`determinism`: the same seeds and actions give the same bits, in this process and in a fresh one.

One rollout is the measure. It is run again in other circumstances, none of which may change a bit: a second time, in
an env with a past, beside another env, with the global generators elsewhere, with observations read in between, with
everything that was returned overwritten, from a saved state, with actions in other forms, with other numbers of
threads, and in another process.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.circumstances import CIRCUMSTANCES, generators, moved
from simulacrum.harness.compare import checksum
from simulacrum.harness.fresh import Other, Rollouts, checksums, half_of, launch, snapshot, world_of
from simulacrum.harness.parts import Parts
from simulacrum.harness.recording import Recording
from simulacrum.harness.relations.action_forms import action_forms
from simulacrum.harness.relations.threads import threads_and_chunks
from simulacrum.harness.world import World

# torch shares an operation among threads from 32,768 elements on.
WIDE = 33_000
FULL = Rollouts(seed=0, rows=65, steps=40, limit=13, wide=WIDE)
QUICK = Rollouts(seed=0, rows=17, steps=20, limit=7, wide=0)
ELSEWHERE = ("snapshot_and_restore", "fresh_process")  # what another process takes part in


def run(bench: Bench) -> Outcome:
    """Every circumstance in turn while the other process works; the first that changes a bit ends the check."""
    size = QUICK if bench.quick else FULL
    with tempfile.TemporaryDirectory(prefix="simulacrum-determinism-") as folder:
        saved = str(Path(folder) / "half")
        rollouts = replace(size, seed=bench.seed + 11, device=bench.device, snapshot=saved)
        other = None
        if any(bench.wants(name) for name in ELSEWHERE):
            snapshot(world_of(bench, rollouts), Path(saved))
            threads = 2 if torch.get_num_threads() == 1 else 1
            other = launch(bench.package, rollouts, threads=threads)
        try:
            return _judged(Runs(bench, replace(rollouts, snapshot=""), other))
        finally:
            if other is not None and other.process.poll() is None:
                other.process.kill()
                other.process.communicate()


class Runs:
    """The first rollout, and what is held against it: `held` names the circumstances that changed nothing."""

    def __init__(self, bench: Bench, rollouts: Rollouts, other: Other | None) -> None:
        self.bench, self.rollouts, self.other = bench, rollouts, other
        self.world: World = world_of(bench, rollouts)
        before = generators()
        self.first: Recording = self.world.run(range(self.world.size))
        self.moved = moved(before)
        self.held: list[str] = []
        self.there: dict[str, Any] = {}
        self.wide = ""

    def circumstances(self, name: str) -> Outcome:
        """Those of one sub-check."""
        compared = 0
        for what, again in CIRCUMSTANCES[name].items():
            self.bench.say(what, len(self.held))
            problem = (self.moved if name == "run_again" else None) or again(self.world, self.first)
            if problem is not None:
                return failed(problem[0], problem[1], held=list(self.held))
            self.held.append(what)
            compared += self.first.transitions
        return passed(f"{', '.join(CIRCUMSTANCES[name])}", compared_transitions=compared)

    def snapshot_and_restore(self) -> Outcome:
        """From a state saved half way on: in this process, and in another one."""
        outcome = self.circumstances("snapshot_and_restore")
        if outcome.status != "passed":
            return outcome
        problem = self._elsewhere("restored", checksum(self.first.frames[half_of(self.world) + 1 :]))
        if problem is not None:
            return failed(problem, held=list(self.held))
        compared = outcome.evidence["compared_transitions"] + self.first.transitions // 2
        return passed(f"{outcome.message}, restored in another process", compared_transitions=compared)

    def threads_and_chunks(self) -> Outcome:
        """The wide batch; its checksum is kept for the other process to be held to."""
        outcome, self.wide = threads_and_chunks(self.bench, self.rollouts.seed, self.rollouts.wide)
        return outcome

    def fresh_process(self) -> Outcome:
        """The checksums of whole rollouts, here and there."""
        self.bench.say("a fresh process", len(self.held))
        if self.wide and self.rollouts.wide:
            here = {**checksums(self.bench.package, replace(self.rollouts, wide=0)), "wide": self.wide}
        else:
            here = checksums(self.bench.package, self.rollouts)
        for name, value in here.items():
            problem = self._elsewhere(name, value)
            if problem is not None:
                return failed(problem, fresh_process=self.there)
        return passed("a fresh process", checksums=list(here))

    def _elsewhere(self, name: str, here: str) -> str | None:
        """The problem that the other process has another checksum of this rollout, or None."""
        assert self.other is not None
        if not self.there:
            self.there.update(self.other.result())
        if "error" in self.there:
            return f"the fresh process failed: {self.there['error']}"
        if self.there[name] == here:
            return None
        settings = ", ".join(f"{k}={v}" for k, v in self.there["settings"].items())
        return f"the {name} rollout has other bits in a fresh process ({settings})"


def _judged(runs: Runs) -> Outcome:
    parts = Parts(runs.bench)
    for name in ("run_again", "interleaved_envs", "looking_changes_nothing"):
        parts.run(name, lambda name=name: runs.circumstances(name))
    parts.run("action_forms", lambda: action_forms(runs.bench, runs.world, runs.first))
    parts.run("threads_and_chunks", runs.threads_and_chunks)
    parts.run("snapshot_and_restore", runs.snapshot_and_restore)  # from here on the other process is waited for
    parts.run("fresh_process", runs.fresh_process)
    evidence: dict[str, Any] = {
        "held": runs.held,
        "fresh_process": runs.there,
        "threads_here": torch.get_num_threads(),
        "episodes_ended": int(runs.first.ends.sum()),
        "compared_transitions": runs.first.transitions,
        "checksum": checksum(runs.first.frames),
    }
    if parts.failed is None and not runs.first.ends.any():
        return Outcome("inconclusive", "no episode ended in the rollout", evidence, None, parts.results)
    if len(parts.results) == 1:
        return parts.joined()
    return parts.outcome(f"{len(runs.held)} circumstances and a fresh process, all the same bits", **evidence)
