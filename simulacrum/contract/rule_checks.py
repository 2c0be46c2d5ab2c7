"""The rules of spec.md held against both twins: named where carried out, each invariant checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulacrum.contract.imports import TWINS
from simulacrum.contract.problem import Problem
from simulacrum.contract.schema import Schema
from simulacrum.contract.source import Mark, Source, rule_names
from simulacrum.contract.spec import Spec

# Rules under these headings are carried out by both twins, and each twin says where.
TAGGED = ("Episode start", "Step", "Observation", "Reward", "Episode end")


def check_rule_tags(spec: Spec, sources: Mapping[str, Source]) -> Iterator[Problem]:
    """Each rule that the twins carry out is named in both, and no file names a rule that is not there."""
    for twin, source in sources.items():
        tags = source.tags()
        for heading in TAGGED:
            for rule in spec.rules_under(heading):
                if rule.id not in tags:
                    yield Problem(
                        f"{twin}.py",
                        None,
                        rule.id,
                        f"never named here ({heading}, spec.md:{rule.line}): {_short(rule.text)}",
                        f"write `# {rule.id}` where it is carried out, or say in a docstring who does so",
                    )
        for name, line in tags.items():
            if name not in spec.rules:
                yield _unknown_rule(f"{twin}.py", line, name, spec)


def check_rule_references(spec: Spec, schema: Schema | None) -> Iterator[Problem]:
    """Rules that spec.md or a draw mentions must be stated."""
    for number, line in enumerate(spec.text.split("\n"), 1):
        for name in rule_names(line):
            if name not in spec.rules:
                yield _unknown_rule("spec.md", number, name, spec)
    for index, draw in enumerate(schema.draws if schema else ()):
        if draw.rule not in spec.rules:
            yield Problem(
                "schema.json",
                None,
                f"$.x-draws[{index}].rule",
                f"the draw {draw.name} belongs to {draw.rule}, which spec.md does not state",
                f"name the rule that uses the draw (there are R1 to R{len(spec.rules)})",
            )


def check_invariants(spec: Spec, sources: Mapping[str, Source]) -> Iterator[Problem]:
    """Both twins carry the same invariants, and together these are the rules under Invariants."""
    marks = {twin: {mark.method: mark for mark in source.invariants()} for twin, source in sources.items()}
    stated = {rule.id for rule in spec.rules_under("Invariants")}
    for twin, found in marks.items():
        file = f"{twin}.py"
        for mark in found.values():
            yield from _invariant_mark(file, mark, stated, spec)
        for rule in spec.rules_under("Invariants"):
            if all(mark.rule != rule.id for mark in found.values()):
                yield Problem(
                    file,
                    None,
                    rule.id,
                    f"no invariant of {file} checks {rule.id} (spec.md:{rule.line}): {_short(rule.text)}",
                    f'add a method marked @invariant("...", rule="{rule.id}")',
                )
    if len(marks) == len(TWINS):
        yield from _same_marks(*(marks[twin] for twin in TWINS))


def check_sometimes(spec: Spec, sources: Mapping[str, Source]) -> Iterator[Problem]:
    """What must happen sometimes stands in the reference alone, and names a rule that exists."""
    for twin, source in sources.items():
        for mark in source.marks("sometimes"):
            clause = f"sometimes {mark.method}"
            if twin != "reference":
                yield Problem(
                    f"{twin}.py", mark.line, clause, "only the reference says what must happen sometimes",
                    "move it to reference.py",
                )  # fmt: skip
            elif mark.rule is None or mark.text is None:
                what = "rule" if mark.rule is None else "text"
                yield Problem(
                    f"{twin}.py", mark.line, clause, f"its {what} is no literal",
                    'write @sometimes("what happens", rule="R9") in full',
                )  # fmt: skip
            elif mark.rule not in spec.rules:
                yield _unknown_rule(f"{twin}.py", mark.line, mark.rule, spec)


def _invariant_mark(file: str, mark: Mark, stated: set[str], spec: Spec) -> Iterator[Problem]:
    clause = f"invariant {mark.method}"
    if mark.rule is None or mark.text is None:
        what = "rule" if mark.rule is None else "text"
        yield Problem(
            file,
            mark.line,
            clause,
            f"its {what} is no literal",
            'write @invariant("what holds", rule="R9") in full',
        )
    elif mark.rule not in spec.rules:
        yield _unknown_rule(file, mark.line, mark.rule, spec)
    elif mark.rule not in stated:
        yield Problem(
            file,
            mark.line,
            clause,
            f"{mark.rule} stands under {spec.rules[mark.rule].heading}, not under Invariants",
            "state the invariant as a rule under Invariants and name that",
        )


def _same_marks(reference: dict[str, Mark], fast: dict[str, Mark]) -> Iterator[Problem]:
    for name in [*reference, *(name for name in fast if name not in reference)]:
        here, there = reference.get(name), fast.get(name)
        if here is None or there is None:
            have, lack = ("fast", "reference") if here is None else ("reference", "fast")
            present = here or there
            assert present is not None
            yield Problem(
                f"{have}.py",
                present.line,
                f"invariant {name}",
                f"{lack}.py has no invariant of that name",
                f"write it in {lack}.py too, or remove it here",
            )
        elif (here.rule, here.text) != (there.rule, there.text):
            yield Problem(
                "fast.py",
                there.line,
                f"invariant {name}",
                f"reference.py:{here.line} {here.rule} {here.text!r}, here {there.rule} {there.text!r}",
                "give both the same rule and the same words",
            )


def _unknown_rule(file: str, line: int, name: str, spec: Spec) -> Problem:
    return Problem(
        file, line, name, f"{name} is named here and stated nowhere in spec.md",
        f"name a rule that exists (R1 to R{len(spec.rules)})",
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
