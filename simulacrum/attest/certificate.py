"""The native form that was validated: one file beside the report, named and known by the hash of its bytes.

The report's configuration says which file speaks for it (`details["binary"]`: file, sha256, processor, compiler). A
training process loads exactly that file; one that is gone, damaged, swapped, or built for another processor is not
the one that was judged.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulacrum.attest.atomic import replace_file
from simulacrum.attest.record import Configuration, Report
from simulacrum.contract.digest import NATIVE_PREFIX

NATIVE = "native"  # the form that has a file


@dataclass(frozen=True)
class Certified:
    """A file and the hash that its report states."""

    path: Path
    sha256: str


def binary_of(configuration: Configuration) -> Mapping[str, Any] | None:
    """What the report says of the configuration's file, or None where it has none."""
    return configuration.details.get("binary")


def keep(source: Path, about: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Put a copy of a library into `folder`; returns what the report is to say of it. OSError where it cannot."""
    data = source.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    name = f"{NATIVE_PREFIX}{digest[:16]}{source.suffix}"
    replace_file(folder / name, data)
    return {"file": name, "sha256": digest, **{key: about[key] for key in ("processor", "compiler")}}


def forget_others(report: Report, folder: Path) -> None:
    """Remove the libraries in `folder` that `report` does not name: nobody can load them any more."""
    named = {str(about["file"]) for one in report.configurations if (about := binary_of(one)) is not None}
    for path in folder.glob(f"{NATIVE_PREFIX}*"):
        if path.name not in named:
            with contextlib.suppress(OSError):  # in use on Windows, or read-only: it does no harm
                path.unlink()


def certified(report_path: Path, configuration: Configuration) -> Certified | str:
    """The file of a validated native configuration, or why it cannot be used, in words."""
    from simulacrum.lower.compiler import processor

    about = binary_of(configuration)
    if about is None:
        return "the report names no file of the native form"
    if about["processor"] != processor():
        return f"the native form was built for {about['processor']}, this is {processor()}"
    path = report_path.parent / str(about["file"])
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or error}"
    if found != about["sha256"]:
        return f"{path} is not the file that was validated (sha256 {about['sha256'][:12]}, found {found[:12]})"
    return Certified(path, found)
