"""Files that commands are given: which environment they belong to, and what is in them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simulacrum.errors import TraceError, UnknownEnvError, UsageError

if TYPE_CHECKING:
    from simulacrum.contract.package import EnvPackage
    from simulacrum.trace.trajectory import Trajectory

SUFFIXES = (".json", ".jsonl", ".npz")
DIVERGENCE = "simulacrum-divergence"


def looks_like_file(name: str) -> bool:
    """Whether an argument means a recording rather than an environment."""
    return Path(name).suffix in SUFFIXES


def read_recording(path: Path, env: str | None) -> tuple[EnvPackage, list[Trajectory]]:
    """The trajectories in a file and the environment that they belong to; `env` names it, else the file does.

    Raises:
        TraceError: the file is missing, unreadable, cut off, edited, or of another schema.
        UnknownEnvError: the environment is not installed and `env` is None.
    """
    from simulacrum.trace import read_trajectories

    package = package_for(path, str(header_of(path).get("env_id")), env)
    return package, read_trajectories(path, package.schema)


def package_for(path: Path, env_id: str, env: str | None) -> EnvPackage:
    """The package that `env` names or, without it, the installed one of that id."""
    from simulacrum.contract.package import load_package

    if env is not None:
        return load_package(env)
    try:
        return load_package(env_id)
    except UnknownEnvError as error:
        raise UnknownEnvError(
            f"{path} is of {env_id}, which is not installed here",
            expected=error.expected,
            found=env_id,
            where=path,
            next_step="name its folder with --env FOLDER",
        ) from None


def header_of(path: Path) -> dict[str, Any]:
    """The parts of a recording that can be read without its schema: "format" and "env_id" at least.

    Raises:
        UsageError: a name that no recording has. TraceError: no such file, or not a recording.
    """
    from simulacrum.trace.jsonio import load_document, read_text

    if path.suffix not in SUFFIXES:
        raise UsageError(
            "a recording of an unknown kind", expected="a file that ends in .json, .jsonl or .npz", found=str(path)
        )
    if path.suffix == ".npz":
        raw = _npz_header(path)
    elif path.suffix == ".jsonl":
        raw = _parsed(read_text(path).partition("\n")[0], path)
    else:
        raw = load_document(path)[1]
    return _flat(raw, path)


def _npz_header(path: Path) -> Any:
    import numpy as np

    from simulacrum.trace.jsonio import read_bytes

    read_bytes(path)  # a missing or unreadable file is told as everywhere else
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _parsed(bytes(arrays["header"]).decode("utf-8"), path)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _not_one(path, f"{type(error).__name__}: {error}") from None


def _parsed(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _not_one(path, text[:60]) from None


def _flat(raw: Any, path: Path) -> dict[str, Any]:
    """The header's names on one level, wherever the format keeps them."""
    if not isinstance(raw, dict):
        raise _not_one(path, repr(raw)[:60])
    body = cast("dict[str, Any]", raw)
    inner: Any = body.get("header") or (body.get("trajectories") or [None])[0] or {}
    found = {**body, **cast("dict[str, Any]", inner)} if isinstance(inner, dict) else body
    if not isinstance(found.get("env_id"), str):
        raise _not_one(path, f"format {body.get('format')!r}")
    return found


def _not_one(path: Path, found: str) -> TraceError:
    return TraceError(
        "this is not a recording",
        expected="a trajectory, or the record of a failure",
        found=found,
        where=path,
        next_step="record one with `simulacrum record NAME -o FILE`",
    )
