"""One trajectory as indented JSON, for people: its canonical document with "format", "version" and "sha256"
before it.

The hash is the trajectory's `digest`, so a file that was edited is refused; line breaks and blanks do not
count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simulacrum.trace.jsonio import (
    BadValue,
    canonical,
    line_of,
    load_document,
    pretty,
    sha256,
    short,
    write_bytes,
)
from simulacrum.trace.records import checked, fault, from_document, to_document
from simulacrum.trace.trajectory import Trajectory

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema

FORMAT = "simulacrum-trajectory"
VERSION = 1


def write_json(path: str | Path, trajectory: Trajectory, schema: Schema) -> None:
    """Write indented JSON. Raises TraceError when a value does not fit the schema or the file cannot be
    written."""
    write_bytes(Path(path), json_bytes(trajectory, schema))


def json_bytes(trajectory: Trajectory, schema: Schema) -> bytes:
    """What `write_json` writes; the same bytes for equal trajectories."""
    document = to_document(checked(trajectory, schema), schema)
    body = {"format": FORMAT, "version": VERSION, "sha256": sha256(canonical(document)), **document}
    return pretty(body).encode("ascii")


def read_json(path: str | Path, schema: Schema, *, bounds: bool = False) -> Trajectory:
    """Read indented JSON; with `bounds` values must also keep the schema's limits. Raises TraceError."""
    path = Path(path)
    text, raw = load_document(path)
    try:
        stated, body = opened(raw, FORMAT, ("sha256",))
        trajectory = from_document(body, schema, bounds=bounds)
        same_hash(stated["sha256"], sha256(canonical(to_document(trajectory, schema))))
    except BadValue as error:
        raise fault(error, f"{path}, line {line_of(text, error.path)}") from None
    return trajectory


def opened(raw: Any, kind: str, names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The wrapper's values and the rest of a document of the given format, in a version that this code
    knows."""
    rest = dict(cast("dict[str, Any]", raw)) if isinstance(raw, dict) else {}
    if rest.get("format") != kind:
        found = rest.get("format") if rest else short(raw)
        raise BadValue("not a trajectory file of this kind", path=("format",), expected=kind, found=found)
    if rest.get("version") != VERSION:
        raise BadValue(
            "a trajectory file of another version",
            path=("version",),
            expected=VERSION,
            found=rest.get("version"),
        )
    for name in names:
        if not isinstance(rest.get(name), str):
            raise BadValue("missing from the file", path=(name,), expected="a hash in hex")
    stated = {name: rest.pop(name) for name in ("format", "version", *names)}
    return stated, rest


def same_hash(stated: Any, actual: str) -> None:
    if stated != actual:
        raise BadValue(
            "the content does not have the hash that was written with it: the file was changed",
            path=("sha256",),
            expected=actual,
            found=short(stated, 80),
        )
