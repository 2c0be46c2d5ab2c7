"""`benchmark_factory_parity`: the form that training uses, compiled or on a device, has the bits of eager on the CPU.

Each form is built as `make_vec` builds it and run beside the eager twin on the CPU: at the batch size that training
uses, at one row, at odd sizes and beyond a power of two, in all three autoreset modes and under more than one time
limit. Every field is compared at every step. Graphs are counted too: a step that breaks into several, is compiled
again for another batch size, or waits for a value in its middle, does not pass.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from gymnasium.vector import AutoresetMode
from torch._dynamo.utils import counters

from simulacrum.engine.boundary import core_of
from simulacrum.harness.bench import Bench, Outcome, failed, inconclusive, passed, skipped
from simulacrum.harness.recording import explain, parting
from simulacrum.harness.world import World
from simulacrum.trace.divergence import Divergence

TRAINING = 1024  # rows that training uses by default
CROWD = 4097
LONG = 130  # steps of the run at training's size under the package's own limit, at most

# Operations that make the host wait for the device, or end a graph.
WAITING = ("_local_scalar_dense", "item", "nonzero", "masked_select", "unique")


@dataclass(frozen=True)
class Plan:
    """One run beside the eager form: rows, mode, steps; `own` takes the package's time limit, else a short one."""

    rows: int
    mode: AutoresetMode
    steps: int
    own: bool = False


_NEXT, _SAME, _OFF = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
FULL = (
    Plan(TRAINING, _NEXT, LONG, own=True),
    Plan(TRAINING, _SAME, 40),
    Plan(TRAINING, _OFF, 24),
    Plan(1, _NEXT, 40),
    Plan(7, _NEXT, 40),
    Plan(1023, _NEXT, 24),
    Plan(CROWD, _NEXT, 40),
    Plan(CROWD, _SAME, 24),
    Plan(1, _SAME, 40),
    Plan(7, _SAME, 40),
    Plan(1023, _SAME, 24),
    Plan(1, _OFF, 24),
    Plan(7, _OFF, 24),
)
QUICK = (Plan(64, _NEXT, 24), Plan(1, _NEXT, 12), Plan(7, _SAME, 24), Plan(7, _OFF, 24))
LIMIT = 11  # the short time limit


def run(bench: Bench) -> Outcome:
    """Every form that is not the eager one on the CPU, one after the other."""
    _ = bench.native  # from here on it is known which forms there are
    on_cpu = torch.device(bench.device).type == "cpu"
    wanted = [form for form in bench.forms if form != "eager" or not on_cpu]
    if not wanted:
        return skipped("only the eager form on the CPU is validated here, and that is what others are held against")
    evidence: dict[str, dict[str, Any]] = {}
    first: Divergence | None = None
    messages: list[str] = []
    for form in wanted:
        found, facts = _form(bench, form)
        evidence[form] = facts
        if facts["outcome"] != "passed":
            messages.append(f"{form}: {facts['problem']}")
            first = first or found
    status = {facts["outcome"] for facts in evidence.values()}
    if "failed" in status:
        return failed("; ".join(messages), first, forms=evidence)
    if "inconclusive" in status:
        return inconclusive("; ".join(messages), forms=evidence)
    total = sum(facts["compared_transitions"] for facts in evidence.values())
    return passed(f"{', '.join(wanted)}: {total:,} transitions have the bits of the eager form", forms=evidence)


def _form(bench: Bench, form: str) -> tuple[Divergence | None, dict[str, Any]]:
    """Run the plans for one form; the first divergence ends it. Returns it and the evidence."""
    began, before = time.perf_counter(), _counts()
    worlds = _worlds(bench)
    plans = QUICK if bench.quick else FULL
    facts: dict[str, Any] = {"outcome": "passed", "batch_sizes": [], "modes": [], "compared_transitions": 0}
    found: Divergence | None = None
    ended = 0
    for number, plan in enumerate(plans):
        bench.say(f"{form}, {plan.rows} rows, {plan.mode.name.lower()}", number, len(plans))
        found, transitions, ends = _beside(bench, worlds[plan.own], plan, form)
        ended += ends
        facts["compared_transitions"] += transitions
        facts["batch_sizes"] = sorted({*facts["batch_sizes"], plan.rows})
        facts["modes"] = sorted({*facts["modes"], plan.mode.name.lower()})
        if found is not None:
            what = f"{found.difference.path} of row {found.row} of {plan.rows} ({plan.mode.name.lower()})"
            facts.update(outcome="failed", problem=f"another bit than eager in {what}")
            break
    facts.update(_graphs(bench, form, before), episodes_ended=ended, seconds=round(time.perf_counter() - began, 3))
    if form == "native" and bench.build_seconds is not None:
        facts["build_seconds"] = round(bench.build_seconds, 3)
    if facts["outcome"] == "passed":
        facts.update(_verdict(facts, ended))
    return found, facts


def _worlds(bench: Bench) -> dict[bool, World]:
    """The crowd under the package's own limit (True) and under a short one (False)."""
    declared = bench.schema.max_episode_steps
    steps = LONG if declared is None else min(LONG, declared + 20)
    size = 64 if bench.quick else CROWD
    return {
        True: World(bench, min(size, TRAINING), steps, declared, bench.seed + 21),
        False: World(bench, size, 40, LIMIT, bench.seed + 22),
    }


def _beside(bench: Bench, world: World, plan: Plan, form: str) -> tuple[Divergence | None, int, int]:
    """(the divergence, transitions compared, episodes ended) of one plan."""
    rows = range(min(plan.rows, world.size))
    plain = world.run(rows, mode=plan.mode, device="cpu", steps=plan.steps)
    built = world.run(rows, mode=plan.mode, form=form, steps=plan.steps)
    parted = parting(bench, plain, built, rows, rows)
    ends = int(plain.ends.sum())
    if parted is None:
        return None, built.transitions, ends
    notes = (f"built as {form} on {bench.device}",)
    side = "the eager form on the CPU"
    return explain(bench, parted, plain, built, rows, rows, side=side, notes=notes), built.transitions, ends


def _counts() -> dict[str, int]:
    """How often torch has broken a graph, and how many it has compiled, in this process so far."""
    return {
        "breaks": sum(counters["graph_break"].values()),
        "graphs": int(counters["stats"]["unique_graphs"]),
    }


def _graphs(bench: Bench, form: str, before: Mapping[str, int]) -> dict[str, Any]:
    """Graph breaks, graphs compiled beyond one a step, and waiting operations in the graphs."""
    if form == "eager":
        return {}
    now, graphs, waiting = _counts(), 0, 0
    for (_, name), step in core_of(bench.package, bench.schema.max_episode_steps).compiled.items():
        if name != form:
            continue
        for _, graph in getattr(step, "built", {}).values():
            graphs += 1
            # "aten.nonzero.default" -> "nonzero"; Python's own functions (getitem) have no such name.
            names = [str(node.target).split(".") for node in graph.program.graph.nodes if node.op == "call_function"]
            waiting += sum(len(name) == 3 and name[1] in WAITING for name in names)
    compiled = now["graphs"] - before["graphs"]
    return {
        "graphs": graphs,
        "graph_breaks": now["breaks"] - before["breaks"],
        "recompiles": max(0, compiled - graphs),
        "host_syncs": waiting,
    }


def _verdict(facts: Mapping[str, Any], ended: int) -> dict[str, str]:
    spoiled = [name for name in ("graph_breaks", "recompiles", "host_syncs") if facts.get(name)]
    if spoiled:
        problem = ", ".join(f"{facts[name]} {name.replace('_', ' ')}" for name in spoiled)
        return {"outcome": "failed", "problem": problem}
    if not ended:
        return {"outcome": "inconclusive", "problem": "no episode ended in any run"}
    return {}
