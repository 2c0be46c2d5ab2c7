"""The two twins held against spec.md and schema.json: rule numbers, invariants, methods, draws and constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simulacrum.contract.imports import TWINS, reachable
from simulacrum.contract.node import suggestion
from simulacrum.contract.problem import Problem, from_error
from simulacrum.contract.schema import Schema
from simulacrum.contract.source import DrawCall, Mark, Source, read_source, rule_names
from simulacrum.contract.spec import TIME_LIMIT_NAMES, Spec
from simulacrum.errors import PackageError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage

# Rules under these headings are carried out by both twins, and each twin says where.
TAGGED = ("Episode start", "Step", "Observation", "Reward", "Episode end")
BASES = {"reference": "ReferenceEnv", "fast": "BatchedEnv"}
_METHODS = ("reset", "step", "observe")
_CONSTANT_IMPORTS = {"__future__", "typing", "math", "simulacrum.portable", "simulacrum.portable.scalar"}


def check_rule_tags(spec: Spec, sources: dict[str, Source]) -> Iterator[Problem]:
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
                        f"{twin}.py never names {rule.id} ({heading}, spec.md:{rule.line}): {_short(rule.text)}",
                        f"write `# {rule.id}` where it is carried out, or say in a docstring who does so instead",
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


def check_invariants(spec: Spec, sources: dict[str, Source]) -> Iterator[Problem]:
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
                f"reference.py:{here.line} says {here.rule}: {here.text!r}, fast.py says {there.rule}: {there.text!r}",
                "give both the same rule and the same words",
            )


def check_methods(schema: Schema, sources: dict[str, Source]) -> Iterator[Problem]:
    """Each twin has the methods that the schema calls for, and none that it does not know."""
    wanted = {"action_mask": schema.action_mask is not None, "info": len(schema.info) > 0}
    for twin, source in sources.items():
        file = f"{twin}.py"
        classes = source.classes(BASES[twin])
        if len(classes) != 1:
            names = ", ".join(kind.name for kind in classes) or "none"
            yield Problem(
                file, None, BASES[twin], f"one class on {BASES[twin]} is expected, found {names}",
                f"define one `class {schema.name.title().replace('-', '')}({BASES[twin]})`",
            )  # fmt: skip
            continue
        if len(classes[0].bases) > 1:
            continue  # methods may come from the other base
        defined = {node.name: node.lineno for node in classes[0].body if isinstance(node, ast.FunctionDef)}
        for method in _METHODS:
            if method not in defined:
                yield Problem(
                    file, classes[0].lineno, method, f"{classes[0].name} has no {method}", "write it"
                )
        for method, expected in wanted.items():
            if expected and method not in defined:
                yield Problem(
                    file, classes[0].lineno, method, f"schema.json declares {method}, {file} has no such method",
                    f"write {method}, or remove it from schema.json",
                )  # fmt: skip
            elif not expected and method in defined:
                yield Problem(
                    file, defined[method], method, f"{file} has {method}, schema.json declares none",
                    f"declare {method} in schema.json, or remove the method",
                )  # fmt: skip


def check_draw_calls(schema: Schema, folder: Path, sources: dict[str, Source]) -> Iterator[Problem]:
    """Draws that a twin's code names: declared, of that distribution, and none of the declared ones forgotten."""
    for twin in sources:
        calls: list[tuple[str, DrawCall]] = [
            (reached.name, call)
            for reached in reachable(folder, twin)
            for call in reached.source.draw_calls()
        ]
        for file, call in calls:
            if call.slot is None:
                continue
            draw = schema.draw(call.slot)
            if draw is None:
                names = [draw.name for draw in schema.draws]
                hint = (
                    suggestion(call.slot, names)
                    or f"declare it in x-draws (declared: {', '.join(names) or 'none'})"
                )
                yield Problem(
                    file, call.line, f"draw {call.slot}", "this draw is not declared in schema.json", hint
                )
            elif draw.distribution != call.distribution:
                yield Problem(
                    file, call.line, f"draw {call.slot}",
                    f"it is asked for as {call.distribution} and declared as {draw.distribution}",
                    "mend the call or the declaration",
                )  # fmt: skip
        if any(call.slot is None for _, call in calls):
            continue  # a computed slot name: what is drawn shows only at run time
        for index, draw in enumerate(schema.draws):
            if all(call.slot != draw.name for _, call in calls):
                yield Problem(
                    f"{twin}.py", None, f"$.x-draws[{index}]", f"{twin}.py never draws the declared slot {draw.name}",
                    f"draw it where {draw.rule} says so, or remove the declaration",
                )  # fmt: skip


def check_constants(package: EnvPackage, spec: Spec | None) -> Iterator[Problem]:
    """`__init__.py` holds constants and nothing else, and they are those of the Constants table."""
    path = package.folder / "__init__.py"
    lines: dict[str, int] = {}
    values: dict[str, Any] = {}
    if path.is_file():
        try:
            source = read_source(path)
            problems = list(_only_constants(source, lines))
            yield from problems
            if problems:
                return  # running it could do anything
            values = {name: getattr(package.module("__init__"), name) for name in lines}
        except PackageError as error:
            yield from_error(error, package.folder, "__init__.py")
            return
    if spec is not None:
        yield from _same_constants(spec, values, lines)


def _only_constants(source: Source, lines: dict[str, int]) -> Iterator[Problem]:
    for node in source.tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in _CONSTANT_IMPORTS:
            continue
        if isinstance(node, ast.Import) and all(alias.name in _CONSTANT_IMPORTS for alias in node.names):
            continue
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if names and len(names) == len(targets) and all(name.isupper() for name in names):
            lines.update(dict.fromkeys(names, node.lineno))
        elif names != ["__all__"]:
            yield Problem(
                "__init__.py",
                node.lineno,
                "constants only",
                f"both twins may share constants and nothing else: {ast.unparse(node).splitlines()[0][:60]}",
                "keep UPPER_CASE = value lines here, and write each twin's logic in its own file",
            )


def _same_constants(spec: Spec, values: dict[str, Any], lines: dict[str, int]) -> Iterator[Problem]:
    rows = {row["name"]: row.line for row in spec.table("Constants").rows}
    for name, stated in spec.constants.items():
        if name in values:
            if not _same(stated, values[name]):
                yield Problem(
                    "__init__.py", lines[name], f"Constants.{name}",
                    f"spec.md:{rows[name]} says {stated!r}, __init__.py says {values[name]!r}",
                    "decide which of the two is right and mend the other (10 and 10.0 differ: a type is part of it)",
                )  # fmt: skip
        elif name not in TIME_LIMIT_NAMES:
            yield Problem(
                "spec.md", rows[name], f"Constants.{name}", "the constant is not in __init__.py",
                f"add `{name} = {stated!r}` to __init__.py, or remove the row",
            )  # fmt: skip
    for name, line in lines.items():
        if name not in spec.constants:
            yield Problem(
                "__init__.py", line, f"Constants.{name}", "the constant is not in spec.md",
                f"add the row {name} under Constants, or keep it in the twin that needs it",
            )  # fmt: skip


def _same(stated: object, value: object) -> bool:
    """Equal, and of one kind; a float type that rounds (Float32) is compared after rounding."""
    if isinstance(stated, (tuple, list)) and isinstance(value, (tuple, list)):
        left, right = cast("list[object]", list(stated)), cast("list[object]", list(value))
        return len(left) == len(right) and all(
            _same(one, other) for one, other in zip(left, right, strict=True)
        )
    if isinstance(stated, float) and isinstance(value, float):
        return float(type(value)(stated)) == float(value)
    return type(stated) is type(value) and stated == value


def _unknown_rule(file: str, line: int, name: str, spec: Spec) -> Problem:
    return Problem(
        file, line, name, f"{name} is named here and stated nowhere in spec.md",
        f"name a rule that exists (R1 to R{len(spec.rules)})",
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
