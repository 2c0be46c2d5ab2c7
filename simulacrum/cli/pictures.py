"""Results of commands as pictures (`--plot`): from what a run found to the plain data that `simulacrum.plots` draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulacrum import plots
from simulacrum.errors import UsageError

if TYPE_CHECKING:
    from simulacrum.cli.measure import Measured
    from simulacrum.contract.package import EnvPackage
    from simulacrum.mutate.matrix import Pair
    from simulacrum.transfer.sides import Side
    from simulacrum.transfer.statistical import Study


def mutants(path: Path, pairs: Sequence[Pair], *, matrix: bool, name: str) -> None:
    """Draw which check finds which kind of fault in the package of this name.

    With `matrix` all checks were run on each mutant; otherwise the first to fail is counted, and no other.

    Raises:
        UsageError: no mutant was killed.
    """
    from simulacrum.mutate.matrix import by_check, check_by_kind, tally
    from simulacrum.mutate.verdict import KILLED
    from simulacrum.trace.kinds import BY_NUMBER

    found = check_by_kind(pairs, matrix=matrix)
    if not found:
        raise UsageError("nothing was found, so there is nothing to draw", found=f"{len(pairs)} mutants, none killed")
    whole = {kind: tally([v for m, v in pairs if m.kind == kind]) for kind in sorted({m.kind for m, _ in pairs})}
    planted = {kind: one.counted for kind, one in whole.items() if one.counted}
    every = {one.path: one.unique or 0 for one in by_check([verdict for _, verdict in pairs], matrix=matrix)}
    killed = sum(verdict.status == KILLED for _, verdict in pairs)
    said = "every check that fails on it" if matrix else "the first check that fails on it"
    kills = plots.Kills(
        kinds={kind: BY_NUMBER[kind].title if kind in BY_NUMBER else kind for kind in planted},
        planted=planted,
        found=found,
        alone={check: every[check] for check in found} if matrix else None,
    )
    title = f"{name}: {killed} of {sum(planted.values())} planted faults found; counted is {said}"
    plots.kill_matrix(path, kills, title=title)


def study(path: Path, found: Study) -> Path:
    """Draw a study of policy transfer; returns the path. Raises UsageError where matplotlib is missing."""
    from simulacrum.transfer.sides import SIDES

    plan = found.plan
    plots.transfer(
        path,
        # Each twin's own policies, where they were trained and in the other one.
        [plots.Returns(side, judge, found.means(side, judge)) for side in SIDES for judge in (side, _other(side))],
        [
            plots.Interval(
                name, one.low, one.difference, one.high,
                f"{one.verdict}; power {one.power:.2f}, n = {one.n[0]} and {one.n[1]}",
            )
            for name, one in found.tests.items()
        ],
        margin=plan.margin,
        level=1 - 2 * plan.alpha,
        title=f"{plan.env_id}: {found.verdict}",
    )  # fmt: skip
    return path


def _other(side: Side) -> Side:
    return "reference" if side == "batched" else "batched"


def speeds(path: Path, measured: Mapping[str, Sequence[Measured]]) -> None:
    """Draw steps per second against rows, a panel for each environment; the reference is its one row."""
    plots.throughput(path, [plots.Panel(env_id, _by_form(lines)) for env_id, lines in measured.items()])


def _by_form(lines: Iterable[Measured]) -> list[plots.Speed]:
    forms: dict[str, list[Measured]] = {}
    for line in lines:
        forms.setdefault(line.form, []).append(line)
    return [
        plots.Speed(
            form,
            [one.num_envs for one in of],
            [one.steps_per_second for one in of],
            [one.lowest for one in of],
            [one.highest for one in of],
        )
        for form, of in forms.items()
    ]


def rules(path: Path, package: EnvPackage, coverage: Mapping[str, Any] | None) -> None:
    """Draw how much of each rule the rollouts exercised, as the evidence of `differential` tells under "coverage".

    Raises:
        UsageError: there is no such evidence: the check ended before its rollouts did.
    """
    if coverage is None:
        raise UsageError("differential ended without a coverage, so there is nothing to draw")
    told = rules_of(package, coverage)
    whole = sum(rule.ran == rule.statements and not rule.never for rule in told)
    plots.coverage_by_rule(path, told, title=f"{package.env_id}: {whole} of {len(told)} rules exercised in full")


# A gap, as the harness words it: the twin, the line, what never came up there.
_GAP = re.compile(r"(?P<twin>reference|fast)\.py:(?P<line>\d+) (?P<what>.*)", re.DOTALL)
_NEVER_RAN, _UNMET = re.compile(r"`.*` never ran"), re.compile(r"never carried out (R\d+):")


def rules_of(package: EnvPackage, coverage: Mapping[str, Any]) -> list[plots.Rule]:
    """Each rule that is asked for, with what of it the gaps leave.

    Of a block that never ran the harness names the first statement, and all that follows in it is as silent.
    """
    from simulacrum.harness.coverage import Coverage

    watched = Coverage(package)
    reference, batched = watched.reference, watched.twins["fast"]
    gaps = [found for gap in coverage["missing"] if (found := _GAP.match(gap))]
    unmet = {(gap["twin"], rule[1]) for gap in gaps if (rule := _UNMET.match(gap["what"]))}
    first = {int(gap["line"]) for gap in gaps if gap["twin"] == "reference" and _NEVER_RAN.match(gap["what"])}
    silent = first | {line for block in reference.map.blocks for line in block.lines if block.lines[0] in first}
    partly = [int(gap["line"]) for gap in gaps if gap["twin"] == "reference" and not _is_whole(gap["what"])]
    statements = {point.line for point in reference.asked if point.is_statement}
    told: list[plots.Rule] = []
    for name in sorted(watched.rules, key=lambda name: int(name[1:])):
        lines = {line for place in watched.rules[name] for line in place}
        own = {line for line in lines & statements if line not in reference.declared}
        told.append(
            plots.Rule(
                name,
                package.spec.rules[name].text,
                statements=len(own),
                ran=len(own - silent),
                never=sum(line in lines for line in partly),
                batched=("fast", name) not in unmet if name in batched.rules else None,
            )
        )
    return told


def _is_whole(what: str) -> bool:
    """Whether a gap is about a whole statement or a whole rule, not about an outcome inside of a statement."""
    return bool(_NEVER_RAN.match(what) or _UNMET.match(what))
