"""The code of both twins held against schema.json: the methods it calls for and the draws it declares."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from simulacrum.contract.imports import reachable
from simulacrum.contract.node import suggestion
from simulacrum.contract.problem import Problem
from simulacrum.contract.schema import Schema
from simulacrum.contract.source import DrawCall, Source

BASES = {"reference": "ReferenceEnv", "fast": "BatchedEnv"}
_METHODS = ("reset", "step", "observe")


def check_methods(schema: Schema, sources: Mapping[str, Source]) -> Iterator[Problem]:
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
                    file, classes[0].lineno, method, f"schema.json declares {method}, {file} has none",
                    f"write {method}, or remove it from schema.json",
                )  # fmt: skip
            elif not expected and method in defined:
                yield Problem(
                    file, defined[method], method, f"{file} has {method}, schema.json declares none",
                    f"declare {method} in schema.json, or remove the method",
                )  # fmt: skip


def check_draw_calls(schema: Schema, folder: Path, sources: Mapping[str, Source]) -> Iterator[Problem]:
    """The draws in a twin's code are declared, of that distribution, and no declared one is forgotten."""
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
        # A handle may have any name; a slot counts as drawn where its name stands as text.
        mentioned = {text for reached in reachable(folder, twin) for text in reached.source.texts()}
        for index, draw in enumerate(schema.draws):
            if draw.name not in mentioned:
                yield Problem(
                    f"{twin}.py", None, f"$.x-draws[{index}]", f"{twin}.py never draws the slot {draw.name}",
                    f"draw it where {draw.rule} says so, or remove the declaration",
                )  # fmt: skip
