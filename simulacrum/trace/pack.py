"""A pack: one folder with trajectories, their schema and flat columns, which a stranger's program can read
and check.

    manifest.json        what is in the pack, with sizes and SHA-256 of every other file
    schema.json          the schema, byte for byte
    trajectories/*.json  the trajectories, one canonical file each
    columns/*.csv        the same as flat columns, for programs that cannot read nesting
    columns.json         what each column holds
    README.md            the above in words

`manifest.json`, version 1: {"format": "simulacrum-pack", "version", "env_id", "schema_digest", "counts":
{"trajectories", "episodes", "steps"}, "trajectories": [{"file", "columns", "sha256", "form", "seed",
"episodes", "steps", "returns"}], "files": [{"path", "bytes", "sha256"}], "sha256"}; the last is taken over
the rest in canonical form (sorted names, no blanks)."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from simulacrum.contract.schema import load_schema, parse_schema
from simulacrum.errors import TraceError, UsageError
from simulacrum.trace import packfiles
from simulacrum.trace.bits import spell_scalar
from simulacrum.trace.files import read_trajectories
from simulacrum.trace.indented import json_bytes, read_json
from simulacrum.trace.jsonio import (
    BadValue,
    cannot_write,
    canonical,
    load_document,
    parse,
    pretty,
    read_bytes,
    sha256,
    short,
)
from simulacrum.trace.records import checked, digest, fault
from simulacrum.trace.trajectory import Trajectory, schema_digest
from simulacrum.trace.values import read_object

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema

FORMAT = "simulacrum-pack"
VERSION = 1
MANIFEST = "manifest.json"
_NAMES = ("format", "version", "env_id", "schema_digest", "counts", "trajectories", "files", "sha256")


@dataclass(frozen=True)
class Pack:
    """A pack on the disk: its folder and its manifest (the parsed JSON)."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def env_id(self) -> str:
        return self.manifest["env_id"]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of "trajectories", "episodes" and "steps"."""
        return self.manifest["counts"]

    @property
    def trajectory_files(self) -> list[Path]:
        return [self.folder / entry["file"] for entry in self.manifest["trajectories"]]


def export_pack(
    schema_path: str | Path,
    trajectories: Sequence[str | Path | Trajectory],
    out: str | Path,
    *,
    overwrite: bool = False,
) -> Pack:
    """Write a pack folder, whole or not at all, and return it.

    trajectories: files of any format of this room, or trajectories; all of the schema's environment. A
    folder that stands at `out` already is replaced only when it is a pack and `overwrite` is set; an empty
    one is used. Raises TraceError (unreadable input, a folder that cannot be written, a folder in the
    way), SchemaError, and UsageError when there is nothing to pack."""
    out, schema_path = Path(out), Path(schema_path)
    schema = load_schema(schema_path)
    rows: list[Trajectory] = []
    for item in trajectories:
        rows += [checked(item, schema)] if isinstance(item, Trajectory) else read_trajectories(item, schema)
    if not rows:
        raise UsageError("there is nothing to pack", expected="at least one trajectory")
    _check_target(out, overwrite)
    contents, entries = _contents(rows, schema, read_bytes(schema_path))
    manifest = _manifest(rows, entries, contents, schema)
    contents[MANIFEST] = pretty(manifest).encode("ascii")
    temporary = out.with_name(f".{out.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.partial")
    try:
        for path, data in contents.items():
            (temporary / path).parent.mkdir(parents=True, exist_ok=True)
            (temporary / path).write_bytes(data)
        _move_into_place(temporary, out)
    except OSError as error:
        raise cannot_write(out, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Pack(out, manifest)


def _check_target(out: Path, overwrite: bool) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not _is_pack(out):
        raise TraceError(
            "something else stands where the pack would go; nothing was touched",
            expected="a new folder, or an earlier pack",
            found="a folder without a pack's manifest" if out.is_dir() else "a file",
            where=str(out),
        )
    if not overwrite:
        raise TraceError(
            "there is a pack already; nothing was touched",
            where=str(out),
            next_step="name another folder, or ask for it to be overwritten (--overwrite)",
        )


def _is_pack(folder: Path) -> bool:
    try:
        raw = load_document(folder / MANIFEST)[1]
    except TraceError:
        return False
    return isinstance(raw, dict) and cast("dict[str, Any]", raw).get("format") == FORMAT


def _move_into_place(temporary: Path, out: Path) -> None:
    """Rename the finished folder. A pack that stood there is moved aside first and comes back if that
    fails."""
    aside: Path | None = None
    if out.exists():
        aside = out.with_name(f".{out.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.old")
        out.rename(aside)
    try:
        temporary.rename(out)
    except OSError:
        if aside is not None:
            aside.rename(out)
        raise
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def _contents(
    rows: Sequence[Trajectory], schema: Schema, schema_bytes: bytes
) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """All files but the manifest (path -> bytes), and the manifest's entries of the trajectories."""
    table = packfiles.column_table(schema)
    contents: dict[str, bytes] = {"schema.json": schema_bytes}
    entries: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        content = digest(row, schema)
        name = f"{number:05d}-{content[:12]}"
        entry = {"file": f"trajectories/{name}.json", "columns": f"columns/{name}.csv", "sha256": content}
        contents[entry["file"]] = json_bytes(row, schema)
        contents[entry["columns"]] = packfiles.csv_bytes(row, table)
        returns = [spell_scalar(total, "float64") for total in row.returns()]
        counts = {"episodes": len(row.starts), "steps": len(row.steps)}
        entries.append({**entry, "form": row.form, "seed": row.seed, **counts, "returns": returns})
    contents["columns.json"] = pretty(packfiles.describe(table)).encode("ascii")
    contents["README.md"] = packfiles.readme(rows[0].env_id).encode("utf-8")
    return contents, entries


def _manifest(
    rows: Sequence[Trajectory], entries: list[dict[str, Any]], contents: dict[str, bytes], schema: Schema
) -> dict[str, Any]:
    counts = {"episodes": sum(len(row.starts) for row in rows), "steps": sum(len(row.steps) for row in rows)}
    body: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "env_id": rows[0].env_id,
        "schema_digest": schema_digest(schema),
        "counts": {"trajectories": len(rows), **counts},
        "trajectories": entries,
        "files": [_listed(path, data) for path, data in sorted(contents.items())],
    }
    return {**body, "sha256": sha256(canonical(body))}


def _listed(path: str, data: bytes) -> dict[str, Any]:
    return {"path": path, "bytes": len(data), "sha256": sha256(data)}


def verify_pack(folder: str | Path) -> Pack:
    """The pack in a folder, when every file is there, unchanged, and no other. Raises TraceError naming
    each file that was changed, is missing or does not belong."""
    folder = Path(folder)
    path = folder / MANIFEST
    raw = load_document(path)[1]
    try:
        manifest = _read_manifest(raw)
    except BadValue as error:
        raise fault(error, str(path)) from None
    listed = {entry["path"]: entry for entry in manifest["files"]}
    there = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()} - {
        MANIFEST
    }
    problems = [f"missing: {name}" for name in sorted(set(listed) - there)]
    problems += [f"not in the manifest: {name}" for name in sorted(there - set(listed))]
    for name in sorted(there & set(listed)):
        data = read_bytes(folder / name)
        if len(data) != listed[name]["bytes"] or sha256(data) != listed[name]["sha256"]:
            problems.append(f"changed: {name}")
    if problems:
        shown = "; ".join(problems[:10]) + (f"; and {len(problems) - 10} more" if len(problems) > 10 else "")
        raise TraceError("the pack is not as it was written", found=shown, where=str(folder))
    return Pack(folder, manifest)


def _read_manifest(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict) or cast("dict[str, Any]", raw).get("format") != FORMAT:
        raise BadValue("this is not a pack's manifest", path=("format",), expected=FORMAT, found=short(raw))
    if cast("dict[str, Any]", raw).get("version") != VERSION:
        found = cast("dict[str, Any]", raw).get("version")
        raise BadValue("a pack of another version", path=("version",), expected=VERSION, found=found)
    manifest = dict(read_object(raw, _NAMES, ()))
    body = {name: value for name, value in manifest.items() if name != "sha256"}
    if sha256(canonical(body)) != manifest["sha256"]:
        raise BadValue("the manifest was changed after it was written", path=("sha256",))
    for number, entry in enumerate(manifest["files"]):
        path = read_object(entry, ("path", "bytes", "sha256"), ("files", number))["path"]
        parts = PurePosixPath(path)
        if parts.is_absolute() or ".." in parts.parts:
            raise BadValue("a path that leads out of the pack", path=("files", number), found=path)
    return manifest


def read_pack(folder: str | Path) -> tuple[Pack, Schema, list[Trajectory]]:
    """A verified pack with its schema and all its trajectories. Raises TraceError or SchemaError."""
    pack = verify_pack(folder)
    where = pack.folder / "schema.json"
    schema = parse_schema(parse(read_bytes(where).decode("utf-8")), str(where))
    return pack, schema, [read_json(path, schema) for path in pack.trajectory_files]
