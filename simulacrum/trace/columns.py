"""The binary format for bulk: many trajectories of one schema as flat columns in one compressed .npz file.

Arrays in the file (no pickled objects anywhere):

    header                    uint8: UTF-8 JSON {"format", "version", "trajectories": [header + "starts",
    "steps"]} start/episode, start/t    int32 [S]; likewise start/state.<field> [S, *shape] in the schema's
    dtype,
                              start/observation or start/observation.<key>, start/info.<field>,
                              start/action_mask
    start/draw.<slot>         uint32 [S, W]; start/drawn.<slot> uint8 [S, W]: 1 drawn, 0 not asked for, 2 no
    such word step/...                  the same for steps [M], with step/action, step/reward,
    step/terminated, step/truncated sha256                    uint8 [32]: over names, dtypes, shapes and bytes
    of all the others

Trajectories stand one after the other; their counts of starts and steps in the header say where each begins.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from simulacrum.errors import TraceError
from simulacrum.trace.jsonio import BadValue, parse, read_bytes, short, whole_file
from simulacrum.trace.records import HEADER, checked, fault, read_header, read_start, read_step, spell_header
from simulacrum.trace.trajectory import Order, Start, Step, Trajectory
from simulacrum.trace.values import read_object

if TYPE_CHECKING:
    from simulacrum.contract.fields import Field
    from simulacrum.contract.schema import Schema

FORMAT = "simulacrum-trajectory-columns"
VERSION = 1
_DRAWN, _NOT_ASKED, _NO_WORD = 1, 0, 2

Column = npt.NDArray[Any]
# What lands in a file that is not a sound .npz: numpy, zipfile and zlib raise all of these.
_GARBAGE = (
    *(OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, AttributeError, TypeError),
    *(zipfile.BadZipFile, zlib.error),
)


def write_npz(path: str | Path, trajectories: Sequence[Trajectory], schema: Schema) -> None:
    """Write trajectories as one .npz, whole or not at all. Raises TraceError when a value does not fit the
    schema or the file cannot be written."""
    sound = [checked(trajectory, schema) for trajectory in trajectories]
    headers = [
        {**spell_header(item, schema), "starts": len(item.starts), "steps": len(item.steps)} for item in sound
    ]
    document = {"format": FORMAT, "version": VERSION, "trajectories": headers}
    columns: dict[str, Column] = {"header": np.frombuffer(json.dumps(document).encode("ascii"), np.uint8)}
    starts = [start for item in sound for start in item.starts]
    steps = [step for item in sound for step in item.steps]
    columns |= _columns("start", starts, schema) | _columns("step", steps, schema)
    columns["sha256"] = np.frombuffer(_hash(columns), np.uint8)
    save: Callable[..., None] = np.savez_compressed
    with whole_file(Path(path)) as file:
        save(file, **columns)


def field_table(schema: Schema, part: str) -> dict[str, Field]:
    """Column name -> field, for the fields that starts or steps ("start" or "step") have by the schema."""
    groups = {"state": schema.state, "observation": schema.observation, "info": schema.info}
    if part == "step":
        groups = {"action": schema.action, **groups}
    table: dict[str, Field] = {"reward": schema.reward} if part == "step" else {}
    for name, group in groups.items():
        for key, leaf in group.fields.items():
            table[name if group.single else f"{name}.{key}"] = leaf
    if schema.action_mask is not None:
        table["action_mask"] = schema.action_mask
    return table


def value_at(item: Start | Step, column: str) -> Any:
    """The value of a start or step that belongs into a column of `field_table`."""
    name, _, key = column.partition(".")
    value = getattr(item, name)
    return value[key] if key else value


def _columns(part: str, items: Sequence[Start] | Sequence[Step], schema: Schema) -> dict[str, Column]:
    plain = {"episode": np.int32, "t": np.int32}
    if part == "step":
        plain |= {"terminated": np.bool_, "truncated": np.bool_}
    columns: dict[str, Column] = {}
    for name, dtype in plain.items():
        columns[f"{part}/{name}"] = np.array([getattr(item, name) for item in items], dtype)
    for name, leaf in field_table(schema, part).items():
        values: Any = np.array([value_at(item, name) for item in items], leaf.dtype)
        columns[f"{part}/{name}"] = values.reshape(len(items), *leaf.shape)
    phase = "reset" if part == "start" else "step"
    for draw in schema.draws:
        if draw.phase == phase:
            words, drawn = _draw_columns([item.draws.get(draw.name, ()) for item in items])
            columns[f"{part}/draw.{draw.name}"], columns[f"{part}/drawn.{draw.name}"] = words, drawn
    return columns


def _draw_columns(rows: Sequence[Sequence[int | None]]) -> tuple[Column, Column]:
    width = max((len(row) for row in rows), default=0)
    words = np.zeros((len(rows), width), np.uint32)
    drawn = np.full((len(rows), width), _NO_WORD, np.uint8)
    for number, row in enumerate(rows):
        words[number, : len(row)] = [word or 0 for word in row]
        drawn[number, : len(row)] = [_NOT_ASKED if word is None else _DRAWN for word in row]
    return words, drawn


def _hash(columns: Mapping[str, Column]) -> bytes:
    total = hashlib.sha256()
    for name in sorted(columns):
        column: Any = np.ascontiguousarray(columns[name])
        total.update(f"{name} {column.dtype.str} {column.shape}\n".encode())
        total.update(column.tobytes())
    return total.digest()


def read_npz(path: str | Path, schema: Schema, *, bounds: bool = False) -> list[Trajectory]:
    """Read all trajectories of an .npz. Raises TraceError (file, column or field)."""
    path = Path(path)
    columns = _load(path)
    stated = columns.pop("sha256", np.zeros(0, np.uint8)).tobytes()
    if stated != _hash(columns):
        raise TraceError(
            "the content does not have the hash that was written with it: the file was changed",
            expected=_hash(columns).hex(),
            found=stated.hex() or "no hash",
            where=str(path),
        )
    try:
        return _trajectories(columns, schema, bounds)
    except BadValue as error:
        raise fault(error, str(path)) from None


def _load(path: Path) -> dict[str, Column]:
    data = io.BytesIO(read_bytes(path))  # from memory: on a damaged file np.load leaves an open handle behind
    try:
        with np.load(data, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except _GARBAGE as error:
        raise TraceError(
            "the file is not an .npz archive, or is cut off", found=short(str(error), 100), where=str(path)
        ) from None


def _trajectories(columns: dict[str, Column], schema: Schema, bounds: bool) -> list[Trajectory]:
    entries = _header(columns)
    totals = {"start": 0, "step": 0}
    for number, entry in enumerate(entries):
        read_object(entry, (*HEADER, "starts", "steps"), ("header", "trajectories", number))
        for part in totals:
            totals[part] += entry[f"{part}s"]
    starts = [
        read_start(item, schema, bounds, ("start", index))
        for index, item in enumerate(_rows(columns, "start", totals["start"], schema))
    ]
    steps = [
        read_step(item, schema, bounds, ("step", index))
        for index, item in enumerate(_rows(columns, "step", totals["step"], schema))
    ]
    result: list[Trajectory] = []
    first_start = first_step = 0
    for number, entry in enumerate(entries):
        last_start, last_step = first_start + entry["starts"], first_step + entry["steps"]
        header = read_header(
            {name: entry[name] for name in HEADER}, schema, ("header", "trajectories", number)
        )
        parts = {"starts": tuple(starts[first_start:last_start]), "steps": tuple(steps[first_step:last_step])}
        trajectory = replace(header, **parts)
        Order().whole(trajectory)
        result.append(trajectory)
        first_start, first_step = last_start, last_step
    return result


def _header(columns: Mapping[str, Column]) -> list[Any]:
    try:
        raw = parse(columns["header"].tobytes().decode("utf-8"))
    except (KeyError, ValueError):
        raise BadValue("not a trajectory file: no readable header", path=("header",)) from None
    items = read_object(raw, ("format", "version", "trajectories"), ("header",))
    if items["format"] != FORMAT:
        raise BadValue(
            "not a trajectory file", path=("header", "format"), expected=FORMAT, found=items["format"]
        )
    if items["version"] != VERSION:
        raise BadValue(
            "a trajectory file of another version",
            path=("header", "version"),
            expected=VERSION,
            found=items["version"],
        )
    return cast("list[Any]", items["trajectories"])


def _rows(columns: Mapping[str, Column], part: str, count: int, schema: Schema) -> list[dict[str, Any]]:
    """Starts or steps as JSON-like objects, column by column."""
    names = {"episode": "int32", "t": "int32"}
    names |= {"terminated": "bool", "truncated": "bool"} if part == "step" else {}
    rows: list[dict[str, Any]] = [{"info": {}, "action_mask": None, "draws": {}} for _ in range(count)]
    for name, dtype in names.items():
        for row, value in zip(rows, _column(columns, f"{part}/{name}", dtype, (count,)), strict=True):
            row[name] = value
    for name, leaf in field_table(schema, part).items():
        outer, _, key = name.partition(".")
        values = _column(columns, f"{part}/{name}", leaf.dtype, (count, *leaf.shape))
        for row, value in zip(rows, values, strict=True):
            if key:
                row.setdefault(outer, {})[key] = value
            else:
                row[outer] = value
    phase = "reset" if part == "start" else "step"
    for draw in schema.draws:
        if draw.phase == phase:
            _fill_draws(rows, columns, part, draw.name, count)
    return rows


def _fill_draws(
    rows: list[dict[str, Any]], columns: Mapping[str, Column], part: str, slot: str, count: int
) -> None:
    width = columns.get(f"{part}/draw.{slot}", np.zeros((0, 0))).shape[-1]
    words = _column(columns, f"{part}/draw.{slot}", "uint32", (count, width))
    drawn = _column(columns, f"{part}/drawn.{slot}", "uint8", (count, width))
    for row, values, marks in zip(rows, words, drawn, strict=True):
        kept = [
            value if mark == _DRAWN else None
            for value, mark in zip(values, marks, strict=True)
            if mark != _NO_WORD
        ]
        if kept:
            row["draws"][slot] = kept


def _column(columns: Mapping[str, Column], name: str, dtype: str, shape: tuple[int, ...]) -> list[Any]:
    column = columns.get(name)
    if column is None:
        raise BadValue("a column is missing", path=(name,))
    if column.dtype != np.dtype(dtype) or column.shape != shape:
        raise BadValue(
            "a column of another dtype or shape",
            path=(name,),
            expected=f"{dtype} {list(shape)}",
            found=f"{column.dtype} {list(column.shape)}",
        )
    return cast("list[Any]", column.tolist())
