"""Trajectory files of any format, told apart by the end of their name: .json, .jsonl, .npz."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.errors import UsageError
from simulacrum.trace import columns, indented, lines
from simulacrum.trace.trajectory import Trajectory

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema


def write_trajectory(path: str | Path, trajectory: Trajectory, schema: Schema) -> None:
    """Write one trajectory; the name's end (.json, .jsonl, .npz) says in which format. Whole or not at all.

    Raises TraceError when a value does not fit the schema or the file cannot be written, UsageError for
    other names."""
    suffix = _suffix(path)
    if suffix == ".npz":
        columns.write_npz(path, [trajectory], schema)
    elif suffix == ".jsonl":
        lines.write_jsonl(path, trajectory, schema)
    else:
        indented.write_json(path, trajectory, schema)


def read_trajectories(path: str | Path, schema: Schema, *, bounds: bool = False) -> list[Trajectory]:
    """All trajectories of a file: one of .json and .jsonl, any number of .npz. Raises as the formats'
    readers do."""
    suffix = _suffix(path)
    if suffix == ".npz":
        return columns.read_npz(path, schema, bounds=bounds)
    read = lines.read_jsonl if suffix == ".jsonl" else indented.read_json
    return [read(path, schema, bounds=bounds)]


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix
    if suffix not in (".json", ".jsonl", ".npz"):
        raise UsageError(
            "a trajectory file of an unknown kind", expected=".json, .jsonl or .npz", found=str(path)
        )
    return suffix
