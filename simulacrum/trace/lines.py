"""One trajectory as JSON Lines, which can be written while the row runs and read step by step.

A header line {"format", "version", "header"}, then {"start": ...} and {"step": ...} lines in order of
time, and last {"end": {"starts", "steps", "sha256"}}, the hash over all bytes before it. A file without
its last line is reported as cut off, with the number of good steps before the cut."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from simulacrum.errors import TraceError, UsageError
from simulacrum.trace.indented import opened, same_hash
from simulacrum.trace.jsonio import BadValue, cannot_write, parse, read_bytes, short, whole_file
from simulacrum.trace.records import (
    checked,
    fault,
    read_header,
    read_start,
    read_step,
    spell_header,
    spell_start,
    spell_step,
)
from simulacrum.trace.trajectory import Order, Start, Step, Trajectory
from simulacrum.trace.values import read_object

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema

FORMAT = "simulacrum-trajectory-lines"
VERSION = 1


class TrajectoryWriter:
    """Writes JSON Lines while a row runs. Use as a context manager; `start` and `step` write one line each.

    The file appears under its name when the block ends without an error; otherwise nothing is left. Raises
    TraceError when a value does not fit the schema, the order is impossible, or the file cannot be written.
    """

    def __init__(self, path: str | Path, header: Trajectory, schema: Schema) -> None:
        """header: a Trajectory of which only the facts about the whole row are read, not its steps."""
        self._path, self._schema = Path(path), schema
        self._header = checked(replace(header, starts=(), steps=()), schema)
        self._stack = contextlib.ExitStack()
        self._file: BinaryIO | None = None
        self._order, self._hash = Order(), hashlib.sha256()
        self._starts = self._steps = 0

    def __enter__(self) -> TrajectoryWriter:
        self._file = self._stack.enter_context(whole_file(self._path))
        header = spell_header(self._header, self._schema)
        self._line({"format": FORMAT, "version": VERSION, "header": header})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            end = {"starts": self._starts, "steps": self._steps, "sha256": self._hash.hexdigest()}
            try:
                self._line({"end": end})
            except TraceError as failure:
                self._stack.__exit__(TraceError, failure, None)
                raise
        self._stack.__exit__(kind, error, trace)

    def start(self, start: Start) -> None:
        """Write the line of an episode's start. UsageError outside the `with`."""
        try:
            start = read_start(vars(start), self._schema)
            self._order.start(start)
        except BadValue as error:
            raise fault(error, f"{self._path}, start {self._starts}") from None
        self._line({"start": spell_start(start, self._schema)})
        self._starts += 1

    def step(self, step: Step) -> None:
        """Write the line of a step. UsageError outside the `with`."""
        try:
            step = read_step(vars(step), self._schema)
            self._order.step(step)
        except BadValue as error:
            raise fault(error, f"{self._path}, step {self._steps}") from None
        self._line({"step": spell_step(step, self._schema)})
        self._steps += 1

    def _line(self, value: dict[str, Any]) -> None:
        if self._file is None:
            raise UsageError(
                "the writer is not open", next_step="use it as `with TrajectoryWriter(...) as writer:`"
            )
        data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
        self._hash.update(data)
        try:
            self._file.write(data)
        except OSError as error:
            raise cannot_write(self._path, error) from error


def write_jsonl(path: str | Path, trajectory: Trajectory, schema: Schema) -> None:
    """Write JSON Lines. Raises TraceError when a value does not fit the schema or the file cannot be
    written."""
    with TrajectoryWriter(path, trajectory, schema) as writer:
        for start, steps in trajectory.episodes():
            writer.start(start)
            for step in steps:
                writer.step(step)


def read_jsonl(path: str | Path, schema: Schema, *, bounds: bool = False) -> Trajectory:
    """Read JSON Lines whole. Raises TraceError (file, line, field, number of good steps before)."""
    header, parts = iterate_jsonl(path, schema, bounds=bounds)
    items = list(parts)
    starts = tuple(item for item in items if isinstance(item, Start))
    return replace(header, starts=starts, steps=tuple(item for item in items if isinstance(item, Step)))


def iterate_jsonl(
    path: str | Path, schema: Schema, *, bounds: bool = False
) -> tuple[Trajectory, Iterator[Start | Step]]:
    """The header (a Trajectory without steps) and the starts and steps one by one, in order of time.

    Steps before a fault are handed out before the fault is raised (TraceError), so what is good can be kept.
    """
    path = Path(path)
    lines = _lines(path)
    _, first = next(lines, (1, b""))
    try:
        body = opened(_parsed(first), FORMAT, ())[1]
        header = read_header(read_object(body, ("header",), ())["header"], schema, ("header",))
    except BadValue as error:
        raise fault(error, f"{path}, line 1") from None
    return header, _iterate(path, lines, first, schema, bounds)


def _only(raw: Any) -> tuple[str, Any]:
    """The name and value of an object with one name; ("", None) for anything else."""
    if isinstance(raw, dict) and len(items := list(cast("dict[str, Any]", raw).items())) == 1:
        return items[0]
    return "", None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from enumerate(file, start=1)
    except OSError:
        read_bytes(path)  # raises the error for people
        raise


def _iterate(
    path: Path, lines: Iterator[tuple[int, bytes]], first: bytes, schema: Schema, bounds: bool
) -> Iterator[Start | Step]:
    order, running, counts = Order(), hashlib.sha256(first), {"starts": 0, "steps": 0}
    number = 1
    for number, line in lines:
        try:
            raw = _parsed(line)
            kind, body = _only(raw)
            if kind == "start":
                item = read_start(body, schema, bounds, ("start",))
                order.start(item, ("start",))
            elif kind == "step":
                item = read_step(body, schema, bounds, ("step",))
                order.step(item, ("step",))
            elif kind == "end":
                _check_end(body, counts, running.hexdigest())
                break
            else:
                raise BadValue("an unknown line", expected='{"start"}, {"step"} or {"end"}', found=short(raw))
        except BadValue as error:
            raise fault(error, f"{path}, line {number}, after {counts['steps']} good steps") from None
        running.update(line)
        counts["starts" if isinstance(item, Start) else "steps"] += 1
        yield item
    else:
        raise _cut_off(path, number, counts["steps"])
    for number, _ in lines:
        raise TraceError("something stands after the end line", where=f"{path}, line {number}")


def _cut_off(path: Path, number: int, steps: int) -> TraceError:
    return TraceError(
        f"the file is cut off after {steps} good steps: its end line is missing",
        where=f"{path}, line {number}",
    )


def _check_end(raw: Any, counts: dict[str, int], actual: str) -> None:
    end = read_object(raw, (*counts, "sha256"), ("end",))
    for name, count in counts.items():
        if end[name] != count:
            raise BadValue(
                f"{name} are missing or too many", path=("end", name), expected=end[name], found=count
            )
    same_hash(end["sha256"], actual)


def _parsed(line: bytes) -> Any:
    if not line.endswith(b"\n"):
        raise BadValue("the file is cut off inside this line" if line else "the file is empty")
    try:
        return parse(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise BadValue("the line is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise BadValue(f"the line is not JSON: {error.msg} at column {error.colno}") from None
