"""A JSON value that knows where it stands, so that a complaint about it can name its file and its path."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from simulacrum.errors import SchemaError, SimulacrumError


@dataclass(frozen=True)
class Node:
    """One place in a JSON document: the value, its path ("$.x-draws[2].dtype") and the file it came from."""

    value: Any
    path: str
    file: str

    def fail(self, message: str, *, expected: object = None, found: object = None, mend: str) -> NoReturn:
        """Raise the SchemaError for this place."""
        raise SchemaError(
            message, expected=expected, found=found, where=f"{self.file}, at {self.path}", next_step=mend
        )

    def child(self, key: str | int) -> Node:
        """The value below `key`, which must exist."""
        step = f"[{key}]" if isinstance(key, int) else f".{key}"
        return Node(self.value[key], self.path + step, self.file)

    def get(self, key: str) -> Node | None:
        """The value below `key`, or None where there is none."""
        return self.child(key) if key in self.value else None

    def need(self, key: str, why: str) -> Node:
        """The value below `key`; without it an error that says what the keyword is for."""
        if key not in self.value:
            self.fail(
                f"{key} is missing: {why}", expected=key, found=sorted(self.value), mend=f"add {key} here"
            )
        return self.child(key)

    def entries(self) -> Iterator[tuple[str, Node]]:
        """The members of an object, in the order of the file."""
        for key in self.value:
            yield key, self.child(key)

    def items(self) -> Iterator[Node]:
        """The items of an array."""
        for index in range(len(self.value)):
            yield self.child(index)

    def as_object(self, what: str) -> Node:
        """This node, if it is an object; a SchemaError about `what` otherwise."""
        if not isinstance(self.value, dict):
            self.fail(
                f"{what} must be a JSON object",
                expected="{...}",
                found=show(self.value),
                mend="write it as {...}",
            )
        return self

    def as_array(self, what: str) -> Node:
        """This node, if it is an array; a SchemaError about `what` otherwise."""
        if not isinstance(self.value, list):
            self.fail(
                f"{what} must be a JSON array",
                expected="[...]",
                found=show(self.value),
                mend="write it as [...]",
            )
        return self

    def as_text(self, what: str) -> str:
        """The string here, not stripped; SchemaError for a blank one and for anything else."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail(
                f"{what} must be text",
                expected="a string with words in it",
                found=show(self.value),
                mend="write it",
            )
        return self.value

    def as_integer(self, what: str, *, low: int) -> int:
        """The integer here, `low` or more; SchemaError for anything else, true and 3.0 among it."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            self.fail(
                f"{what} must be an integer, {low} or more",
                expected=f"an integer >= {low}",
                found=show(value),
                mend=f"write an integer of at least {low}",
            )
        return value

    def one_of(self, choices: Iterable[str], what: str) -> str:
        """The value here, if it is one of `choices`; else a SchemaError that suggests the nearest of them."""
        known = list(choices)
        if self.value not in known:
            self.fail(
                f"{self.value!r} is no {what}",
                expected=f"one of {', '.join(known)}",
                found=show(self.value),
                mend=suggestion(str(self.value), known) or f"take one of {', '.join(known)}",
            )
        return self.value

    def only(self, allowed: Iterable[str], what: str) -> None:
        """Refuse every key that has no meaning here; a typing slip must not pass as a silent nothing."""
        known = sorted(allowed)
        for key in self.value:
            if key in known:
                continue
            kind = "extension keyword" if key.startswith("x-") else "keyword"
            Node(self.value[key], f"{self.path}.{key}", self.file).fail(
                f"unknown {kind} {key!r} in {what}",
                expected=f"one of {', '.join(known)}",
                found=key,
                mend=suggestion(key, known) or "remove it, or move it where it has a meaning",
            )


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """`did you mean ...?` for a word that is nearly one of the known ones, else None."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else None


def show(value: Any) -> str:
    """A JSON value, shortened for a message."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 80 else text[:77] + "..."


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file, read strictly.

    Raises:
        SchemaError: the file is missing, unreadable, not UTF-8, not JSON (line and column are named), repeats
            a key, holds NaN or Infinity, or is not an object.
    """
    text = read_text(path, SchemaError)
    try:
        value = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"{path.name} is not JSON: {error.msg}",
            found=_line(text, error.lineno),
            where=f"{path}, line {error.lineno}, column {error.colno}",
            next_step="mend the JSON at that place",
        ) from None
    except _Strict as error:
        raise SchemaError(str(error), where=path, next_step="mend the JSON") from None
    except RecursionError:
        raise SchemaError(
            f"{path.name} is nested too deeply to be read", where=path, next_step="flatten it"
        ) from None
    if not isinstance(value, dict):
        raise SchemaError(
            f"{path.name} must hold one JSON object",
            expected="{...}",
            found=show(value),
            where=path,
            next_step="write the schema as an object",
        )
    return cast("dict[str, Any]", value)


def read_text(path: Path, kind: type[SimulacrumError]) -> str:
    """A UTF-8 file as text, without a byte order mark and with LF line ends; `kind` is raised on failure."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise kind(
            f"{path.name} is missing", where=path, next_step=f"create {path.name} in that folder"
        ) from None
    except OSError as error:
        raise kind(
            f"{path.name} cannot be read: {error.strerror or error}",
            where=path,
            next_step="check the file's permissions",
        ) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise kind(
            f"{path.name} is not UTF-8 text",
            expected="UTF-8",
            found=f"byte 0x{data[error.start]:02x} at offset {error.start}",
            where=f"{path}, line {line}",
            next_step="save the file as UTF-8",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Strict(Exception):
    """What json.loads would let pass."""


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Strict(f"the key {key!r} occurs twice in one object; JSON would silently keep the last")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise _Strict(f"{name} is not a JSON number; leave a bound out where there is none")


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1].strip()[:80] if number <= len(lines) else ""
