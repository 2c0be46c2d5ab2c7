"""Which lines of a file run, in order, and which values they give to names: a tracer for one step of a twin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from simulacrum.contract.source import read_source
from simulacrum.harness.explain.written import tags_by_line

MOST_LINES = 400  # a loop over a large field says nothing new after so many


@dataclass(frozen=True)
class RanLine:
    """One line that ran. values: the names that it gave a value, plain (bool, int, float, nested lists), and under
    "return" what it gave back."""

    line: int
    function: str
    text: str
    rules: tuple[str, ...]
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Given:
    """A value that a name of a function was given on a line; an argument on the line of the call."""

    function: str
    name: str
    line: int
    value: Any


class Watcher:
    """Notes the lines of one file that run, and the values that names are given on them.

    plain: makes a value plain (see `RanLine.values`), or None where it is not one to show.
    """

    def __init__(self, path: Path, plain: Callable[[Any], Any]) -> None:
        source = read_source(path)
        self.path, self.plain = str(path), plain
        self.text, self.tags = source.text.split("\n"), tags_by_line(source)
        self.ran: list[RanLine] = []
        self.roots: list[str] = []  # of each line, the function through which the engine came in
        self.given: list[tuple[int, Given]] = []  # in the order in which values were known: place in `ran`, and what

    def forget(self) -> None:
        """Note the next step as if it were the first."""
        self.ran, self.roots, self.given = [], [], []

    def seen(self, unwanted: str) -> tuple[tuple[RanLine, ...], tuple[Given, ...]]:
        """The lines and the values, without those for which the engine came in through the function `unwanted`."""
        lines = tuple(line for line, root in zip(self.ran, self.roots, strict=True) if root != unwanted)
        return lines, tuple(one for place, one in self.given if self.roots[place] != unwanted)

    @contextmanager
    def watching(self) -> Generator[None, None, None]:
        """Note what runs meanwhile in this thread."""
        before = sys.gettrace()  # a debugger's, or one that measures coverage: it is put back
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != self.path or code.co_name.startswith("<") or len(self.ran) >= MOST_LINES:
            return None
        root, above = code.co_name, frame.f_back
        while above is not None:
            if above.f_code.co_filename == self.path and not above.f_code.co_name.startswith("<"):
                root = above.f_code.co_name
            above = above.f_back
        known = dict(frame.f_locals)
        self._hand_over(frame)
        at: list[int] = []  # the place in `ran` of the line that runs now

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            if event in ("line", "return"):
                if at:
                    given = {"return": argument} if event == "return" else {}
                    self._learn(at[-1], {**frame.f_locals, **given}, known)
                if event == "line" and len(self.ran) < MOST_LINES:
                    at.append(self._note(frame, root))
            return line

        return line

    def _hand_over(self, frame: FrameType) -> None:
        """Note what a function of the file is given, on the line that calls it."""
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename != self.path or not self.ran:
            return  # what the engine gives is the same on both sides until a step has been taken
        for name, value in frame.f_locals.items():
            for path, part in parts_of(name, value):
                told = self.plain(part)
                if told is not None:
                    self.given.append((len(self.ran) - 1, Given(frame.f_code.co_name, path, caller.f_lineno, told)))

    def _note(self, frame: FrameType, root: str) -> int:
        number = frame.f_lineno
        rules = tuple(self.tags.get(number, ()))
        self.ran.append(RanLine(number, frame.f_code.co_name, self.text[number - 1].strip(), rules, {}))
        self.roots.append(root)
        return len(self.ran) - 1

    def _learn(self, place: int, now: Mapping[str, Any], known: dict[str, Any]) -> None:
        line = self.ran[place]
        values: Any = line.values
        for name, value in now.items():
            if name in known and known[name] is value:
                continue
            known[name] = value
            for path, part in parts_of(name, value):
                told = self.plain(part)
                if told is not None:
                    values[path] = told
                    self.given.append((place, Given(line.function, path, line.line, told)))


def parts_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value with its name; of a struct or a dict its parts, each by its path (`return.state.x`)."""
    if hasattr(value, "_fields"):
        for field, part in zip(value._fields, value, strict=True):
            yield from parts_of(f"{name}.{field}", part)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from parts_of(f"{name}.{key}", part)
    else:
        yield name, value
