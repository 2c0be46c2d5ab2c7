"""The tables of spec.md held against schema.json: fields, parameters, draws and the time limit."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from simulacrum.contract.fields import Bound, Draw, Field, Number, elements, round_to
from simulacrum.contract.markdown import Row, Table
from simulacrum.contract.problem import Problem
from simulacrum.contract.schema import Schema
from simulacrum.contract.spec import FIELD_TABLES, TABLES, TIME_LIMIT_NAMES, Spec

_NOTHING = ("", "-", "–", "—", "none", "None")  # noqa: RUF001 -- dashes as people type them
_PARTS = {"State": "state", "Actions": "action", "Observation": "observation", "Reward": "reward"}


class _Unreadable(Exception):
    """A cell that says nothing a program can read."""


def check_tables(spec: Spec, schema: Schema) -> list[Problem]:
    """Where the tables of the spec and the schema say different things."""
    problems: list[Problem] = []
    for heading in FIELD_TABLES:
        for table in spec.tables.get(heading, ()):
            if table.columns == TABLES["State"]:
                fields = {key or _PARTS[heading]: field for key, field in schema.group(_PARTS[heading])}
                problems += _compare(spec, heading, table, "field", fields, _field_cells)
    params = {name: param.field for name, param in schema.params.items()}
    problems += _compare(spec, "Parameters", spec.table("Parameters"), "name", params, _field_cells)
    for row in spec.table("Parameters").rows:
        param = schema.params.get(row["name"])
        if param is not None:
            wanted = param.default if param.field.is_bool else _show(param.default)
            problems += _cell(
                spec, row, "Parameters", row["name"], "default", param.field, param.default, wanted
            )
    draws = {draw.name: draw for draw in schema.draws}
    problems += _compare(spec, "Draws", spec.table("Draws"), "slot", draws, _draw_cells)
    return [*problems, *_time_limit(spec, schema)]


def _compare(
    spec: Spec, heading: str, table: Table, key: str, declared: Mapping[str, Any], cells: Any
) -> Iterator[Problem]:
    """Names first, then the cells of each row that both sides have."""
    seen: dict[str, Row] = {}
    for row in table.rows:
        name = row[key]
        if name in seen:
            yield Problem(
                "spec.md",
                row.line,
                f"{heading}.{name}",
                f"{name} is listed twice",
                "remove one of the two rows",
            )
        elif name not in declared:
            yield Problem(
                "spec.md",
                row.line,
                f"{heading}.{name}",
                f"{name} is in spec.md but not in schema.json",
                f"declare {name} in schema.json, or remove the row",
            )
        else:
            yield from cells(spec, row, heading, name, declared[name])
        seen[name] = row
    for name in declared:
        if name not in seen:
            yield Problem(
                "spec.md",
                table.line,
                f"{heading}.{name}",
                f"{name} is in schema.json but not in spec.md",
                f"add the row {name} to the table under {heading}, or remove it from schema.json",
            )


def _field_cells(spec: Spec, row: Row, heading: str, name: str, field: Field) -> Iterator[Problem]:
    if row["dtype"] != field.dtype:
        yield _differ(row, heading, name, "dtype", row["dtype"], field.dtype)
    if "shape" in row.cells:
        try:
            shape = _shape(spec, row["shape"])
        except _Unreadable:
            shape = None
        if shape != field.shape:
            yield _differ(row, heading, name, "shape", row["shape"], str(list(field.shape)))
    if field.is_bool:
        return
    yield from _cell(spec, row, heading, name, "low", field, field.low, _show(field.low))
    yield from _cell(spec, row, heading, name, "high", field, field.high, _show(field.high))


def _draw_cells(spec: Spec, row: Row, heading: str, name: str, draw: Draw) -> Iterator[Problem]:
    for column in ("phase", "distribution", "dtype", "rule"):
        if row[column] != getattr(draw, column):
            yield _differ(row, heading, name, column, row[column], getattr(draw, column))
    try:
        count = None if row["count"] in _NOTHING else _literal(spec, row["count"])
    except _Unreadable:
        count = row["count"]
    if count != draw.count or isinstance(count, bool):
        yield _differ(row, heading, name, "count", row["count"], _show(draw.count))


def _cell(
    spec: Spec, row: Row, heading: str, name: str, column: str, field: Field, declared: Bound, shown: object
) -> Iterator[Problem]:
    """A cell with a bound or default, compared after rounding to the field's dtype."""
    try:
        written = None if row[column] in _NOTHING else _literal(spec, row[column])
        same = _same_bound(written, declared, field)
    except (_Unreadable, OverflowError):
        same = False
    if not same:
        yield _differ(row, heading, name, column, row[column], str(shown))


def _same_bound(written: object, declared: Bound, field: Field) -> bool:
    if written is None or declared is None:
        return written is None and declared is None
    if isinstance(written, bool) or field.is_bool:
        return isinstance(written, bool) and written is declared
    left = _flat(written, field)
    right = list(elements(declared))
    if not isinstance(declared, tuple):
        right *= max(1, len(left)) if isinstance(written, (list, tuple)) else 1
    elif not isinstance(written, (list, tuple)):
        left *= len(right)
    return left == right


def _flat(written: object, field: Field) -> list[Number]:
    if isinstance(written, (list, tuple)):
        return [number for part in cast("Sequence[object]", written) for number in _flat(part, field)]
    if isinstance(written, bool) or not isinstance(written, (int, float)):
        raise _Unreadable
    if isinstance(written, float) and math.isinf(written):
        return [written]
    if field.is_integer and written != int(written):
        raise _Unreadable
    return [round_to(field.dtype, written)]


def _shape(spec: Spec, cell: str) -> tuple[int, ...]:
    if cell in ("scalar", "()"):
        return ()
    value = _literal(spec, cell)
    if not isinstance(value, (list, tuple)):
        raise _Unreadable
    return tuple(cast("Sequence[int]", value))


def _literal(spec: Spec, cell: str) -> object:
    """A cell as a Python literal; a constant of the spec may stand for its value, also inside `[BERRIES]`."""
    names = {name: ast.Constant(value) for name, value in spec.constants.items()}
    try:
        tree = ast.parse(cell, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, (ast.List, ast.Tuple)):
                node.elts = [
                    names.get(item.id, item) if isinstance(item, ast.Name) else item for item in node.elts
                ]
        body = names.get(tree.body.id, tree.body) if isinstance(tree.body, ast.Name) else tree.body
        return ast.literal_eval(body)
    except (SyntaxError, ValueError, TypeError, RecursionError):
        raise _Unreadable from None


def _time_limit(spec: Spec, schema: Schema) -> Iterator[Problem]:
    name = next((name for name in TIME_LIMIT_NAMES if name in spec.constants), None)
    declared = schema.max_episode_steps
    line = spec.headings["Constants"]
    for row in spec.table("Constants").rows:
        line = row.line if row["name"] == name else line
    if name is None and declared is not None:
        yield Problem(
            "spec.md",
            line,
            "Constants.max_episode_steps",
            f"the time limit of schema.json ({declared}) is not in spec.md",
            f"add the row `MAX_EPISODE_STEPS | {declared} | ...` under Constants",
        )
    elif name is not None and (spec.constants[name] != declared or isinstance(spec.constants[name], bool)):
        yield Problem(
            "spec.md",
            line,
            f"Constants.{name}",
            f"spec.md says {spec.constants[name]!r}, schema.json says {_show(declared)}",
            "give x-max-episode-steps and the constant one value (leave both out for no limit)",
        )


def _differ(row: Row, heading: str, name: str, column: str, written: str, declared: str) -> Problem:
    return Problem(
        "spec.md",
        row.line,
        f"{heading}.{name}.{column}",
        f"spec.md says {written or 'nothing'}, schema.json says {declared}",
        "decide which of the two is right and mend the other",
    )


def _show(bound: Bound) -> str:
    """A bound as a person would have written it: 0.1, not the float32 nearest to it."""
    if bound is None:
        return "-"
    if isinstance(bound, tuple):
        return "[" + ", ".join(_show(part) for part in bound) + "]"
    if isinstance(bound, float):
        short = float(f"{bound:.7g}")
        return (
            f"{short if round_to('float32', short) == bound else bound:g}"
            if math.isfinite(bound)
            else str(bound)
        )
    return str(bound)
