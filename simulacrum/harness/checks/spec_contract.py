"""`spec_contract`: spec.md and schema.json exist, are complete, agree with each other and with the code.

First everything that can be read: the agreement of all files, and the operations of fast.py and of what it imports.
Then, on a package that holds together, what both twins do with states: that loading and dumping are inverse to each
other on ordinary and on extreme values, that both carry the same invariants, and that neither keeps anything between
two calls.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from simulacrum.contract.agreement import Problem, check_agreement
from simulacrum.contract.imports import own_modules, reachable
from simulacrum.contract.spaces import single_action_space, single_observation_space
from simulacrum.engine.boundary import draw_layout
from simulacrum.harness.bench import Bench, Outcome, failed, passed
from simulacrum.harness.extremes import extreme_states, round_trips, visited_states
from simulacrum.harness.frames import frame_fields
from simulacrum.harness.purity import impurities
from simulacrum.portable.lint import Finding, lint_fast
from simulacrum.twin.invariant import invariants_of


def run(bench: Bench) -> Outcome:
    """All problems at once where the files contradict each other, else what the twins do with states."""
    bench.say("reading", 0, 4)
    problems = [str(problem) for problem in check_agreement(bench.package)]
    findings = [] if _unreadable(problems) else lint_twin(bench.package.folder)
    problems += [str(finding) for finding in findings if finding.waived is None]
    evidence: dict[str, Any] = {"lint_waivers": [str(finding) for finding in findings if finding.waived]}
    if problems:
        return failed(_listed(problems), problems=problems, **evidence)
    evidence.update(_facts(bench))
    problems = _spaces(bench) + _invariants(bench)
    bench.say("states", 1, 4)
    states = visited_states(bench) + extreme_states(bench.schema, visited_states(bench, rows=1)[0])
    problems += round_trips(bench, states)
    evidence["states_loaded_and_dumped"] = len(states)
    bench.say("purity", 2, 4)
    problems += impurities(bench)
    if problems:
        return failed(_listed(problems), problems=problems, **evidence)
    return passed(_message(evidence), **evidence)


def _unreadable(problems: list[str]) -> bool:
    """Whether fast.py is among what cannot be read: then there is nothing to lint."""
    return any(problem.startswith("fast.py") and "is not Python" in problem for problem in problems)


def lint_twin(folder: Path) -> list[Finding]:
    """The lint's findings of fast.py and of every project file that it runs: none escapes by standing elsewhere."""
    reached = reachable(folder, "fast")
    modules = own_modules(folder, reached)
    return [replace(finding, file=one.name) for one in reached for finding in lint_fast(one.source.path, modules)]


def _listed(problems: list[str]) -> str:
    count = len(problems)
    lines = "\n".join(f"  {problem}" for problem in problems)
    return f"{count} problem{'s' if count > 1 else ''}\n{lines}"


def _facts(bench: Bench) -> dict[str, Any]:
    """What was read, for the report: rules, invariants, words drawn, tolerances with their reasons."""
    layout, spec = draw_layout(bench.schema), bench.package.spec
    fields = frame_fields(bench.schema)
    return {
        "rules": len(spec.rules),
        "invariants": [invariant.method for invariant in invariants_of(bench.package.twin_class("reference"))],
        "draw_words": {phase: layout.words(phase) for phase in ("reset", "step")},
        "tolerances": {
            name: field.tolerance.reason for name, field in fields.items() if field.tolerance is not None
        },
        "allowed": {name: sorted(field.allow) for name, field in fields.items() if field.allow},
    }


def _spaces(bench: Bench) -> list[str]:
    """Both spaces can be built and hold what they sample."""
    problems: list[str] = []
    for name, build in (("observation", single_observation_space), ("action", single_action_space)):
        space = build(bench.schema)
        space.seed(bench.seed)
        if not space.contains(space.sample()):
            problem = Problem("schema.json", None, name, f"{space} does not hold its own sample", "mend the bounds")
            problems.append(str(problem))
    return problems


def _invariants(bench: Bench) -> list[str]:
    """The invariants that the imported classes carry: inherited ones are not in the text that was read."""
    sides = {
        twin: {found.method: (found.rule, found.text) for found in invariants_of(bench.package.twin_class(twin))}
        for twin in ("reference", "fast")
    }
    if sides["reference"] == sides["fast"]:
        return []
    uneven = sorted(set(sides["reference"].items()) ^ set(sides["fast"].items()))
    names = ", ".join(dict.fromkeys(name for name, _ in uneven))
    problem = Problem("fast.py", None, f"invariants {names}", "the twins carry different ones", "mark the same in both")
    return [str(problem)]


def _message(evidence: dict[str, Any]) -> str:
    text = f"{evidence['rules']} rules, {evidence['states_loaded_and_dumped']} states loaded and dumped in both twins"
    if evidence["lint_waivers"]:
        text += f"; {len(evidence['lint_waivers'])} waived operation(s) in fast.py"
    if evidence["tolerances"]:
        text += f"; tolerances in {', '.join(evidence['tolerances'])}"
    return text
