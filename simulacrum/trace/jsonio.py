"""JSON read strictly and files written whole: what every format of this room stands on.

Python's `json` accepts `NaN`, `Infinity` and repeated keys. Here they are errors, because a second reader
(another language, another library) would read something else. Faults carry the path of the field inside
the document; `line_of` turns such a path into a line number of the text, so that an error can say where a
person has to look."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Generator, Sequence
from json.decoder import scanstring  # pyright: ignore[reportAttributeAccessIssue]  # typeshed has it in `_json` alone
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from simulacrum.errors import TraceError

Keys = tuple[str | int, ...]
_BLANK = " \t\r\n"


class BadValue(Exception):
    """A value that does not fit, raised where neither the file nor the line is known yet.

    `path` leads from the top of the document to the value; `under` puts more of it in front on the way up.
    """

    def __init__(self, message: str, *, path: Keys = (), expected: Any = None, found: Any = None) -> None:
        super().__init__(message)
        self.message, self.path, self.expected, self.found = message, path, expected, found

    def under(self, *prefix: str | int) -> BadValue:
        return BadValue(self.message, path=(*prefix, *self.path), expected=self.expected, found=self.found)


def dotted(path: Sequence[str | int]) -> str:
    """`("steps", 3, "state", "x")` as `steps[3].state.x`."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def short(value: Any, width: int = 60) -> str:
    """A value for an error message: its `repr`, cut."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."


def parse(text: str) -> Any:
    """The value of a JSON text. Raises BadValue for repeated keys and for `NaN`/`Infinity`, and the
    decoder's own `json.JSONDecodeError` for text that is not JSON."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise BadValue("the JSON is nested too deeply", expected="a few levels of nesting") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise BadValue(
            f"a name stands twice in one JSON object: {', '.join(twice)}", expected="each name once"
        )
    return result


def _no_constant(name: str) -> NoReturn:
    raise BadValue(
        f"{name} is not JSON",
        expected='"nan", "inf" or "-inf" as a string, where the field allows it',
        found=name,
    )


def load_document(path: Path) -> tuple[str, Any]:
    """The text and the parsed value of a JSON file. Raises TraceError (file, line) when it cannot be had."""
    text = read_text(path)
    try:
        return text, parse(text)
    except json.JSONDecodeError as error:
        whole = "the file ends too early" if error.pos >= len(text.rstrip()) else "the file is not JSON"
        raise TraceError(
            f"{whole}: {error.msg}", where=f"{path}, line {error.lineno}, column {error.colno}"
        ) from None
    except BadValue as error:
        raise TraceError(error.message, expected=error.expected, found=error.found, where=str(path)) from None


def read_text(path: Path) -> str:
    """A file's text. Raises TraceError when it is missing, unreadable or not UTF-8."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(
            "the file is not UTF-8 text",
            found=f"byte 0x{data[error.start]:02x} at {error.start}",
            where=str(path),
        ) from None


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises TraceError when it is missing or unreadable."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TraceError("the file cannot be read", found=reason(error), where=str(path)) from error


def reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def canonical(value: Any) -> bytes:
    """One spelling of a JSON value: sorted names, no blanks, ASCII. What content hashes are taken over."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pretty(value: Any) -> str:
    """JSON for people: indented, but a list of plain values stays on one line; ends with a line break."""
    return _pretty(value, "") + "\n"


def _pretty(value: Any, indent: str) -> str:
    inner = indent + " "
    if isinstance(value, dict) and value:
        pairs = cast("dict[str, Any]", value).items()
        parts = [f"{json.dumps(name)}: {_pretty(item, inner)}" for name, item in pairs]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}}}"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if any(isinstance(item, (dict, list)) for item in items):
            return "[\n" + ",\n".join(inner + _pretty(item, inner) for item in items) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line (from 1) on which the value at `path` begins in a JSON text; the line of its nearest
    existing parent where the path leads nowhere; None when the text is not JSON."""
    position = 0
    try:
        for key in path:
            step = _enter(text, _skip(text, position), key)
            if step is None:
                break
            position = step
        position = _skip(text, position)
    except (ValueError, IndexError, StopIteration):
        return None
    return text.count("\n", 0, position) + 1


def _skip(text: str, position: int) -> int:
    while text[position] in _BLANK:
        position += 1
    return position


def _enter(text: str, position: int, key: str | int) -> int | None:
    """Where the value of `key` begins in the object or array that begins at `position`."""
    if text[position] != ("{" if isinstance(key, str) else "["):
        return None
    decoder = json.JSONDecoder()
    position = _skip(text, position + 1)
    count = 0
    while text[position] not in "}]":
        name: str | int = count
        if isinstance(key, str):
            name, position = cast("tuple[str, int]", scanstring(text, position + 1))
            position = _skip(text, _skip(text, position) + 1)
        if name == key:
            return position
        _, position = decoder.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        count += 1
    return None


@contextlib.contextmanager
def whole_file(path: Path) -> Generator[BinaryIO]:
    """A binary file that appears under `path` only when the block ends without an error: written beside it
    under another name, flushed to the disk, renamed. Raises TraceError on a full disk or a read-only
    folder; whatever stood at `path` before stays untouched then, and nothing half-written remains."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        _forget(temporary)
        raise cannot_write(path, error) from error
    except BaseException:
        _forget(temporary)
        raise


def _forget(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def cannot_write(path: Path, error: OSError) -> TraceError:
    return TraceError(
        "the file cannot be written",
        found=reason(error),
        where=str(path),
        next_step="free some space, or name a folder that can be written",
    )


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file or nothing (see `whole_file`)."""
    with whole_file(path) as file:
        file.write(data)
