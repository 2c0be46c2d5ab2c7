"""Where divergences are kept: a folder with one record per fault and the two trajectories that led to it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simulacrum.errors import TraceError
from simulacrum.trace.divergence import Divergence, dump_divergence
from simulacrum.trace.indented import json_bytes
from simulacrum.trace.jsonio import write_bytes
from simulacrum.trace.trajectory import Trajectory

if TYPE_CHECKING:
    from simulacrum.contract.schema import Schema


@dataclass(frozen=True)
class FailureFiles:
    """The files of one failure, and the record completed with their names and the command that replays it.

    A side without a trajectory (none given, or one with values that no file can hold) has no file.
    """

    record: Path
    reference: Path | None
    batched: Path | None
    divergence: Divergence


def write_failure(
    divergence: Divergence,
    reference: Trajectory | None,
    batched: Trajectory | None,
    folder: str | Path,
    *,
    schema: Schema,
    env: str | Path | None = None,
) -> FailureFiles:
    """Write `<id>.json`, `<id>.reference.json` and `<id>.batched.json` into the folder, each whole or not at
    all.

    The id is a hash of the record, so the same fault met again replaces its own files and no others. A
    trajectory that does not fit the schema cannot be written (the fault may be just that); then the record
    says why in its hints. `env` is the environment's folder, where its id alone does not lead to it; the command
    names it then. Raises TraceError when the folder cannot be written."""
    folder, number = Path(folder), divergence.id
    record = folder / f"{number}.json"
    files = {"record": str(record)}
    hints = list(divergence.hints)
    paths: dict[str, Path | None] = {}
    for side, trajectory in (("reference", reference), ("batched", batched)):
        paths[side] = None
        if trajectory is None:
            continue
        try:
            data = json_bytes(trajectory, schema)
        except TraceError as error:
            hints.append(f"no file of the {side} trajectory, it does not fit the schema: {_one_line(error)}")
            continue
        path = folder / f"{number}.{side}.json"
        write_bytes(path, data)
        paths[side], files[side] = path, str(path)
    command = f"simulacrum replay {shlex.quote(str(record))}"
    if env is not None:
        command += f" --env {shlex.quote(str(env))}"
    complete = replace(divergence, files=files, command=command, hints=tuple(hints))
    write_bytes(record, dump_divergence(complete).encode("ascii"))
    return FailureFiles(record, paths["reference"], paths["batched"], complete)


def _one_line(error: TraceError) -> str:
    parts = [error.message, f"expected {error.expected}", f"found {error.found}", f"at {error.where}"]
    return ", ".join(parts)


def trajectory_file(record_path: str | Path, divergence: Divergence, side: str) -> Path | None:
    """The file of one side ("reference" or "batched") of a record that was read from `record_path`: where the
    record says, or beside the record when the folder was moved; None when there is none."""
    named = divergence.files.get(side)
    if named is None:
        return None
    places = (Path(named), Path(record_path).parent / Path(named).name)
    return next((place for place in places if place.is_file()), None)
