"""Where in a twin's source a value is computed: found in the syntax tree, backwards from where it is handed over.

A difference names a kind and a field ("state", "energy"). The search begins at what the twin hands the engine for it
(an argument of `State`, `replace` or `Transition`, what `observe` returns, a key of `info`) and follows names to their
assignments, calls to the twin's own methods, and conditions that stand around them. It is a program slice (M. Weiser,
"Program slicing", ICSE 1981) over plain names: it knows no aliases and no order, so it may show a line too many, and
nothing is run.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulacrum.contract.source import Source, rule_names
from simulacrum.harness.explain.syntax import (
    binds,
    calls_of,
    condition,
    item_at,
    name_of,
    narrowed,
    returned,
    under_key,
)
from simulacrum.trace.divergence import Difference

BASES = ("ReferenceEnv", "BatchedEnv")
# What the engine makes of a twin's values, and where it takes them from.
_MADE_OF = {"episode_return": "reward", "episode_length": "terminated", "steps": "terminated", "episodes": "terminated",
            "final_obs": "observation"}  # fmt: skip
_HANDED = ("state", "reward", "terminated", "truncated")  # the arguments of Transition, in order
_BUILDERS = ("State", "replace", "_replace")

Function = ast.FunctionDef


@dataclass(frozen=True)
class SourceLine:
    """A line of a twin that has a part in a value.

    distance: 0 where the value is handed over, 1 where that was computed, and so on; None for a line that only
    carries the rule's number. rules: the rules named on the line or on the comment lines right above it.
    """

    line: int
    text: str
    distance: int | None
    rules: tuple[str, ...] = ()


def lines_that_compute(
    source: Source, difference: Difference, *, at_reset: bool, rule: str | None = None, fields: Sequence[str] = ()
) -> tuple[SourceLine, ...]:
    """The lines of a twin that compute the differing field, and those tagged with `rule`, in the file's order.

    at_reset: whether the difference is one of an episode's start, so that a state comes from `reset`. fields: the
    names of the state's fields in order, for a `State` that is built without names.
    """
    slices = _Slice(source, fields)
    slices.follow(slices.roots(difference, at_reset))
    text, tags = source.text.split("\n"), tags_by_line(source)
    found: dict[int, int | None] = dict(slices.found)
    for line, names in tags.items():
        if rule in names:
            found.setdefault(line, None)
    return tuple(
        SourceLine(line, text[line - 1], distance, tuple(tags.get(line, ())))
        for line, distance in sorted(found.items())
        if text[line - 1].strip()
    )


def tags_by_line(source: Source) -> dict[int, list[str]]:
    """The rules named in comments, by the line of code that each comment is about: its own, or the next one below."""
    lines, found = source.text.split("\n"), dict[int, list[str]]()
    for line, words in source.comments():
        at = line
        while at <= len(lines) and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
            at += 1
        for name in rule_names(words):
            if name not in found.setdefault(at, []):
                found[at].append(name)
    return {line: names for line, names in found.items() if names}


class _Slice:
    """The class of one twin and what has been found in it so far: line -> distance."""

    def __init__(self, source: Source, fields: Sequence[str] = ()) -> None:
        self.fields, self.top = list(fields), source.tree.body
        kinds = [kind for base in BASES for kind in source.classes(base)]
        top = [node for node in source.tree.body if isinstance(node, Function)]
        inside = [node for kind in kinds for node in kind.body if isinstance(node, Function)]
        self.functions: Mapping[str, Function] = {node.name: node for node in (*top, *inside)}
        self.around: dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(source.tree) for child in ast.iter_child_nodes(node)
        }
        self.found: dict[int, int] = {}
        self.waiting: deque[tuple[Function, ast.AST, int]] = deque()
        self.taken: set[ast.AST] = set()

    def roots(self, difference: Difference, at_reset: bool) -> list[tuple[Function, ast.AST]]:
        """The expressions that are handed over as the differing value, each with the function it stands in."""
        kind, field = _MADE_OF.get(difference.kind, difference.kind), difference.field
        if kind == "state":
            return self._of_state(field, "reset" if at_reset else "step")
        if kind in _HANDED:
            return self._of_transition(_HANDED.index(kind), kind)
        if kind in ("observation", "action_mask"):
            name = "observe" if kind == "observation" else kind
            return self._of_method(name, field or None, difference.index)
        if kind.startswith(("info.", "final_info.")):
            return self._of_method("info", kind.partition(".")[2])
        if kind == "invariant":
            return self._of_method(field, None)
        return self._of_draw(field) if kind == "draw" else []

    def follow(self, roots: list[tuple[Function, ast.AST]]) -> None:
        """Mark the roots and everything that they are made of, the nearest first."""
        self.waiting.extend((function, node, 0) for function, node in roots)
        while self.waiting:
            function, node, distance = self.waiting.popleft()
            if node in self.taken:
                continue
            self.taken.add(node)
            self._mark(node, distance)
            self._conditions(function, node, distance)
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                    self._assignments(function, part.id, distance + 1)
                elif isinstance(part, ast.Call):
                    self._call(part, distance + 1)

    def _mark(self, node: ast.AST, distance: int) -> None:
        first: int | None = getattr(node, "lineno", None)
        if first is not None:
            for line in range(first, (getattr(node, "end_lineno", None) or first) + 1):
                self.found.setdefault(line, distance)

    def _conditions(self, function: Function, node: ast.AST, distance: int) -> None:
        """The heads of the `if`, `for` and `while` that a node stands under."""
        above = self.around.get(node)
        while above is not None and above is not function:
            head = condition(above)
            if head is not None:
                self.waiting.append((function, head, distance + 1))
            above = self.around.get(above)

    def _assignments(self, function: Function, name: str, distance: int) -> None:
        """Where a name gets its value: in the function, else at the top of the file."""
        found = self._assigned(function, ast.walk(function), name, distance)
        if not found and not any(one.arg == name for one in function.args.args):
            self._assigned(function, self.top, name, distance)

    def _assigned(self, function: Function, nodes: Iterable[ast.AST], name: str, distance: int) -> bool:
        found = False
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.NamedExpr)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(binds(target, name) for target in targets):
                    part = node.iter if isinstance(node, ast.For) else narrowed(node, name)
                    self.waiting.append((function, part, distance))
                    found = True
        return found

    def _call(self, call: ast.Call, distance: int) -> None:
        """What a method of the twin, or a function of its file, gives back."""
        target = call.func
        own = isinstance(target, ast.Name) or (
            isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
        )
        function = self.functions.get(name_of(target)) if own else None
        if function is not None:
            self.found.setdefault(function.lineno, distance)
            self.waiting.extend((function, node, distance) for node in returned(function))

    def _of_state(self, field: str, method: str) -> list[tuple[Function, ast.AST]]:
        def given(function: Function) -> Iterator[tuple[Function, ast.AST]]:
            for call in calls_of(function, _BUILDERS):
                if field in self.fields[: len(call.args)]:
                    yield function, call.args[self.fields.index(field)]
                yield from ((function, word.value) for word in call.keywords if word.arg == field)

        own = self.functions.get(method)
        other = self.functions.get("reset" if method == "step" else "step")
        found = list(given(own)) if own else []
        rest = [function for function in self.functions.values() if function not in (own, other)]
        found = found or [pair for function in rest for pair in given(function)]
        # A field that nobody names stays as it was, or is written by a way that is not known here.
        return found or (self._of_transition(0, "state") if method == "step" else self._of_method("reset", None))

    def _of_transition(self, position: int, name: str) -> list[tuple[Function, ast.AST]]:
        found: list[tuple[Function, ast.AST]] = []
        for function in self.functions.values():
            for call in calls_of(function, ("Transition",)):
                found += [(function, item) for item in call.args[position : position + 1]]
                found += [(function, word.value) for word in call.keywords if word.arg == name]
        return found

    def _of_method(
        self, method: str, key: str | None, index: tuple[int, ...] = ()
    ) -> list[tuple[Function, ast.AST]]:
        function = self.functions.get(method)
        if function is None:
            return []
        whole = list(returned(function))
        parts = [part for node in whole for part in (under_key(node, key) if key else item_at(node, index))]
        return [(function, node) for node in parts or whole]

    def _of_draw(self, slot: str) -> list[tuple[Function, ast.AST]]:
        return [
            (function, call)
            for function in self.functions.values()
            for call in ast.walk(function)
            if isinstance(call, ast.Call)
            and any(isinstance(item, ast.Constant) and item.value == slot for item in call.args[:1])
        ]
