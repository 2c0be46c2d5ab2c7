"""Which rules, branches, conditions and draws of a package its runs have exercised, and what is missing.

Authors name rules beside the code that carries them out (`# R7`), in both twins. A rule is met in a twin once a tagged
statement has run, or, where only a method's docstring names it, once that method has. A rule that is named in the
docstring of the class or of the module alone is the engine's business and is not asked for.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeGuard

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.rule_checks import TAGGED
from simulacrum.contract.source import Source, read_source, rule_names
from simulacrum.harness.coverage.points import Point, declared, excused
from simulacrum.harness.coverage.watch import Watched
from simulacrum.twin.sometimes import Sometimes, sometimes_of


@dataclass(frozen=True)
class Gap:
    """One thing that never came up: where ("reference.py:43"), what, and the rule that it belongs to ("" for none)."""

    where: str
    what: str
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.where} {self.what}" + (f" ({self.rule})" if self.rule else "")


class Coverage:
    """What the runs of one package exercise; `watching` says during which of them it looks."""

    def __init__(self, package: EnvPackage) -> None:
        self.package = package
        self.twins = {
            name: Twin(package, name, conditions=name == "reference") for name in ("reference", "fast")
        }

    @contextlib.contextmanager
    def watching(self, package: EnvPackage | None = None) -> Generator[None, None, None]:
        """Note what both twins do meanwhile, whoever steps them. May be nested.

        `package` is one with the same `reference.py` and `fast.py` (a small model with other constants); the package
        itself by default.
        """
        of = package or self.package
        with contextlib.ExitStack() as stack:
            for name, twin in self.twins.items():
                stack.enter_context(twin.watched.watching(of.module(name)))
            yield

    @property
    def reference(self) -> Twin:
        """The readable twin, of which everything is asked for."""
        return self.twins["reference"]

    @property
    def can_terminate(self) -> bool:
        """Whether some `Transition` of the reference is written with a `terminated` that is not the literal False."""
        given = [_terminated(node) for node in ast.walk(self.reference.source.tree) if _is_transition(node)]
        return not given or any(not (isinstance(one, ast.Constant) and one.value is False) for one in given)

    @property
    def rules(self) -> dict[str, list[range]]:
        """The rules that are asked for, each with the lines of the reference's statements that carry it out."""
        return self.reference.rules

    @property
    def unmet(self) -> list[str]:
        """The rules that the reference has not carried out yet, in order."""
        return self.reference.unmet

    @property
    def unreached(self) -> list[int]:
        """The first lines of the reference's statements that have not run yet (invariants are not asked for)."""
        return sorted({point.line for point in self.reference.open if point.is_statement})

    @property
    def missing(self) -> list[Gap]:
        """All that never came up: rules first, in either twin, then statements, outcomes and draws of the reference."""
        spec = self.package.spec
        rules = [
            Gap(f"{twin.name}.py:{twin.rules[name][0].start}", f"never carried out {name}: {spec.rules[name].text}", "")
            for twin in self.twins.values()
            for name in twin.unmet
        ]
        return [*rules, *self.reference.gaps(), *self.reference.draw_gaps()]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing, and nothing is left that must be seen sometimes."""
        return not self.missing and not self.unheld

    @property
    def unheld(self) -> list[Sometimes]:
        """What the reference's `@sometimes` methods wanted to see and have not."""
        held = self.reference.watched.seen.held
        return [one for one in sometimes_of(self.package.twin_class("reference")) if one.method not in held]

    def figures(self) -> dict[str, Any]:
        """What has been seen, in numbers, and what the author declared unreachable, for the report."""
        reference = self.reference
        asked = [point for point in reference.asked if not excused(point, reference.declared)]
        kinds = {"statements": True, "outcomes": False}
        return {
            "rules": {twin.name: [len(twin.rules) - len(twin.unmet), len(twin.rules)] for twin in self.twins.values()},
            **{
                kind: [sum(reference.saw(p) for p in of), len(of)]
                for kind, wanted in kinds.items()
                for of in ([point for point in asked if point.is_statement is wanted],)
            },
            "draws": {slot: sorted(map(str, drawn)) for slot, drawn in reference.watched.seen.drawn.items()},
            "declared_never": [f"reference.py:{line}: {why}" for line, why in sorted(reference.declared.items())],
            "missing": [str(gap) for gap in self.missing],
        }


class Twin:
    """The points and rules of one twin's file, and which have been seen so far."""

    def __init__(self, package: EnvPackage, name: str, *, conditions: bool) -> None:
        self.name, self.package = name, package
        self.source = read_source(package.folder / f"{name}.py")
        self.watched = Watched(self.source.tree, conditions=conditions)
        self.map = self.watched.map
        self.declared = declared(self.source, self.map)
        self.rules = self._rules()
        self.lines = self.source.text.split("\n")

    def _rules(self) -> dict[str, list[range]]:
        wanted = {rule.id for heading in TAGGED for rule in self.package.spec.rules_under(heading)}
        rules: dict[str, list[range]] = {}
        for line, text in self.source.comments():
            for name in rule_names(text):
                if name in wanted and (place := self.map.place(line)) is not None:
                    rules.setdefault(name, []).append(place)
        for method in _methods(self.source):
            for name in rule_names(ast.get_docstring(method) or ""):
                if name in wanted and name not in rules:
                    rules[name] = [range(method.body[-1].lineno, (method.end_lineno or method.lineno) + 1)]
        return rules

    def saw(self, point: Point) -> bool:
        """Whether a point has been seen."""
        return bool(self.watched.seen.hits[point.number])

    @property
    def asked(self) -> list[Point]:
        """The points that are asked for: all but those of operators that turned out to join no truths."""
        return [point for point in self.map.points if point.number not in self.watched.seen.other]

    @property
    def open(self) -> list[Point]:
        """The points that are asked for, have not been seen, and are not declared unreachable."""
        return [point for point in self.asked if not self.saw(point) and not excused(point, self.declared)]

    @property
    def unmet(self) -> list[str]:
        """The rules of which no statement has run yet, in order."""
        ran = {point.line for point in self.map.points if point.is_statement and self.saw(point)}
        unmet = [name for name, places in self.rules.items() if not any(line in ran for p in places for line in p)]
        return sorted(unmet, key=lambda name: int(name[1:]))

    def gaps(self) -> list[Gap]:
        """The statements and outcomes that never came up; of a block that never ran, its first statement alone.

        A declaration that turned out wrong is one too: all that it speaks for has been seen.
        """
        silent = {point.line for point in self.open if point.is_statement}
        later = {line for block in self.map.blocks for line in block.lines[1:] if block.lines[0] in silent}
        found: list[Gap] = []
        for point in sorted(self.open, key=lambda point: (point.line, point.number)):
            inside = point.line in silent and not point.is_statement
            if inside or point.line in later or point.leads in silent:
                continue
            what = f"`{self.lines[point.line - 1].strip()}` never ran" if point.is_statement else point.what
            found.append(Gap(f"{self.name}.py:{point.line}", what, self._rule_at(point.line)))
        for line, why in self.declared.items():
            about = [point for point in self.asked if excused(point, (line,))]
            if about and all(map(self.saw, about)):
                found.append(Gap(f"{self.name}.py:{line}", f"declared never to come up ({why}), and did: remove that"))
        return found

    def draw_gaps(self) -> list[Gap]:
        """The outcomes of draws that their arguments allow and that never came up."""
        seen, found = self.watched.seen, list[Gap]()
        for slot, possible in seen.possible.items():
            line = self.map.slots.get(slot, 0)
            lacking = [str(one) for one in sorted(possible - seen.drawn[slot], key=str)]
            place = self.map.place(line) if line else None
            if lacking and not (place is not None and place.start in self.declared):
                found.append(Gap(f"{self.name}.py:{line}", f"the draw {slot} never gave: {', '.join(lacking)}"))
        return found

    def _rule_at(self, line: int) -> str:
        """The rules that a line carries out: those named on its statement, or where its method is called from."""
        for _ in range(4):
            here = [name for name, places in self.rules.items() if any(line in place for place in places)]
            if here:
                return ", ".join(f"{name}: {self.package.spec.rules[name].text}" for name in here)
            around = self.map.function_at(line)
            calls = [at for name, at in self.source.calls({around}) if name == around] if around else []
            if not calls:
                return ""
            line = (self.map.place(calls[0]) or range(calls[0], 0)).start
        return ""


def _methods(source: Source) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)]


def _is_transition(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    return getattr(node.func, "id", getattr(node.func, "attr", "")) == "Transition"


def _terminated(call: ast.Call) -> ast.expr | None:
    named = [word.value for word in call.keywords if word.arg == "terminated"]
    return named[0] if named else call.args[2] if len(call.args) > 2 else None
