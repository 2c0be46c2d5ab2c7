"""Which rules of the spec a run has exercised, seen by which lines of `reference.py` have run.

Authors name rules beside the code that carries them out (`# R7`). A rule is met once a tagged statement has run, or,
where only a method's docstring names it, once that method has. A rule that is named in the docstring of the class or of
the module alone is the engine's business and is not asked for.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from simulacrum.contract.package import EnvPackage
from simulacrum.contract.rule_checks import TAGGED
from simulacrum.contract.source import read_source, rule_names

PATIENCE = 2000  # calls without a new line, once every rule is met, after which nobody watches any more


@dataclass
class Coverage:
    """The statements of one reference twin, and which have run so far."""

    package: EnvPackage
    seen: set[int] = field(default_factory=set[int])  # lines of reference.py that have run
    done: set[CodeType] = field(default_factory=set[CodeType])  # its functions of which all lines have

    idle: int = 0  # calls of such functions since the last line that was new

    def __post_init__(self) -> None:
        self.path = str(self.package.folder / "reference.py")
        source = read_source(self.package.folder / "reference.py")
        methods = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)]
        rules = [method for method in methods if method.name != "__init__" and not _is_invariant(method)]
        inside = [node for method in rules for child in method.body for node in ast.walk(child)]
        self.statements = sorted(
            {_lines(node) for node in inside if isinstance(node, ast.stmt) and not _is_text(node)},
            key=lambda lines: (lines.start, lines.stop),
        )
        wanted = {rule.id for heading in TAGGED for rule in self.package.spec.rules_under(heading)}
        self.rules: dict[str, list[range]] = {}
        for line, text in source.comments():
            for name in rule_names(text):
                if name in wanted and (place := self._place(line)) is not None:
                    self.rules.setdefault(name, []).append(place)
        for method in methods:
            for name in rule_names(ast.get_docstring(method) or ""):
                if name in wanted and name not in self.rules:
                    self.rules[name] = [range(method.body[-1].lineno, (method.end_lineno or method.lineno) + 1)]

    def _place(self, line: int) -> range | None:
        """The lines of the innermost statement at a comment, or of the next one below it."""
        around = [lines for lines in self.statements if line in lines]
        if around:
            return min(around, key=len)
        return next((lines for lines in self.statements if lines.start > line), None)

    @property
    def unmet(self) -> list[str]:
        """The rules of which no statement has run yet, in order."""
        open_ones = [name for name, places in self.rules.items() if not any(self._ran(lines) for lines in places)]
        return sorted(open_ones, key=lambda name: int(name[1:]))

    @property
    def unreached(self) -> list[int]:
        """The first lines of statements that have not run yet (invariants are not asked for)."""
        return [lines.start for lines in self.statements if not self._ran(lines)]

    @property
    def complete(self) -> bool:
        """Whether every statement has run."""
        return all(self._ran(lines) for lines in self.statements)

    def _ran(self, lines: range) -> bool:
        return any(line in self.seen for line in lines)

    @contextmanager
    def watching(self) -> Generator[None, None, None]:
        """Note the lines that run meanwhile in this thread. Another tracer (a debugger) is put back afterwards."""
        if sys.version_info >= (3, 12):
            with self._monitored():
                yield
            return
        before, self.idle = sys.gettrace(), 0
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    @contextmanager
    def _monitored(self) -> Generator[None, None, None]:
        """Each line says once that it has run, and then costs nothing (Python 3.12 and later)."""
        monitoring: Any = sys.monitoring  # pyright: ignore[reportAttributeAccessIssue]  # the oldest Python has none
        tool = next((number for number in range(6) if monitoring.get_tool(number) is None), None)
        if tool is None:  # as many tools watch as Python allows: nothing is learned here, and unmet rules will say so
            yield
            return

        def line(code: CodeType, number: int) -> Any:
            if code.co_filename == self.path:
                self.seen.add(number)
            return monitoring.DISABLE

        monitoring.use_tool_id(tool, "simulacrum")
        monitoring.register_callback(tool, monitoring.events.LINE, line)
        monitoring.set_events(tool, monitoring.events.LINE)
        monitoring.restart_events()
        try:
            yield
        finally:
            monitoring.set_events(tool, monitoring.events.NO_EVENTS)
            monitoring.register_callback(tool, monitoring.events.LINE, None)
            monitoring.free_tool_id(tool)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != self.path or code in self.done:
            return None
        # The line of its `def` runs as part of the module.
        lines = {number for *_, number in code.co_lines()} - {None, code.co_firstlineno}
        if lines <= self.seen:
            self.done.add(code)
        self.idle += 1
        if self.idle > PATIENCE and not self.unmet:
            sys.settrace(None)  # watching makes each step three times as slow
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno not in self.seen:
            self.seen.add(frame.f_lineno)
            self.idle = 0
        return self._line


def _lines(node: ast.stmt) -> range:
    """The lines of a simple statement; of a compound one, those of its head."""
    body: list[ast.stmt] | None = getattr(node, "body", None)
    last = node.end_lineno or node.lineno
    return range(node.lineno, max(node.lineno + 1, min(last + 1, body[0].lineno) if body else last + 1))


def _is_invariant(method: ast.FunctionDef) -> bool:
    calls = [node.func for node in method.decorator_list if isinstance(node, ast.Call)]
    return any(isinstance(name, ast.Name) and name.id == "invariant" for name in calls)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
