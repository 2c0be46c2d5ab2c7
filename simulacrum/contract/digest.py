"""What was judged, as hashes of content: the package's files, what they import, and the framework's rooms.

Times of modification, paths and bytecode play no part. Not covered are data files that a twin reads from
outside its folder, and the insides of installed distributions; of those the versions that matter are in
`environment`, with those that the reference drives (`x-outside`) as "outside NAME".
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulacrum.contract.closure import import_closure
from simulacrum.contract.environment import environment as describe_environment
from simulacrum.contract.loader import changed_files
from simulacrum.contract.origins import framework_folder
from simulacrum.contract.outside import outside_versions
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import ContractError, PackageError

# The rooms whose code bears on what an environment does or on how it was judged. `lower` may be absent.
FRAMEWORK_ROOMS = ("contract", "engine", "harness", "lower", "portable", "rng", "trace", "twin")
_FRAMEWORK_SUFFIXES = {".py", ".json", ".c", ".h", ".cpp"}
# Made by running, not written by anybody: never a subject.
_REPORT = "validation_report.json"
MUTATION_SCORE = "mutation_score.json"  # says how strong the battery is, and decides nothing
# Reasons in writing why some mutants are no faults: they bear on that score alone.
MUTANTS = "mutants.json"
_LEFT_OUT = {"__pycache__", "failures", _REPORT, MUTATION_SCORE, MUTANTS}
NATIVE_PREFIX = "native-"  # of the libraries that lie beside a report; the report names them with their hashes


@dataclass(frozen=True)
class Digest:
    """Hashes of everything that was judged.

    `subjects` maps a name such as "envs/toywalk/fast.py" to the SHA-256 of the file's bytes; the names are
    the same on every machine. `environment` says with what. `whole` is the SHA-256 over both. `rewrapped`
    holds, for text files, the hashes with LF and with CRLF line ends; it is not part of `whole` and need not
    be kept.
    """

    subjects: Mapping[str, str]
    environment: Mapping[str, Any]
    whole: str
    rewrapped: Mapping[str, tuple[str, str]] = field(
        default_factory=dict[str, "tuple[str, str]"], compare=False
    )

    def to_json(self) -> dict[str, Any]:
        """Subjects, environment and whole, as JSON values."""
        return {"subjects": dict(self.subjects), "environment": dict(self.environment), "whole": self.whole}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Digest:
        """The inverse of `to_json`. Raises KeyError where a part is missing."""
        return cls(dict(data["subjects"]), dict(data["environment"]), data["whole"])


def compute_digest(package: EnvPackage, *, extra: Mapping[str, Any] | None = None) -> Digest:
    """The digest of a package as its files are now. Imports both twins, and with them torch.

    `extra` is added to `environment` (what only a caller with torch knows, say).

    Raises:
        PackageError: a twin does not import, a file cannot be read, or a module was edited after it was
            imported, so that what ran is not what is on disk.
    """
    for twin in ("reference", "fast"):
        package.module(twin)
    edited = changed_files(package.import_name)
    if edited:
        raise PackageError(
            f"{', '.join(edited)} changed after it was imported",
            expected="the files that are running",
            where=package.folder,
            next_step="start again in a new process, or call reload() on the package",
        )
    files = subject_files(package)
    subjects: dict[str, str] = {}
    rewrapped: dict[str, tuple[str, str]] = {}
    for name, path in sorted(files.items()):
        data = _read(path, name)
        subjects[name] = _sha(data)
        if b"\0" not in data:
            plain = data.replace(b"\r\n", b"\n")
            rewrapped[name] = (_sha(plain), _sha(plain.replace(b"\n", b"\r\n")))
    facts = {**describe_environment(), **_outside(package), **(extra or {})}
    return Digest(subjects, facts, whole_of(subjects, facts), rewrapped)


def _outside(package: EnvPackage) -> dict[str, str]:
    """The versions of what the reference drives; none where schema.json cannot be read, which its check tells."""
    with contextlib.suppress(ContractError):
        return outside_versions(package.schema.outside)
    return {}


def whole_of(subjects: Mapping[str, str], environment: Mapping[str, Any]) -> str:
    """The one hash over subjects and environment."""
    body = json.dumps({"subjects": dict(subjects), "environment": dict(environment)}, sort_keys=True)
    return _sha(body.encode())


def subject_files(package: EnvPackage) -> dict[str, Path]:
    """Every file that is hashed, by its stable name. Modules that are not imported yet are not followed."""
    found = {f"envs/{package.name}/{name}": path for name, path in package_files(package.folder).items()}
    found.update(import_closure(package.import_name, package.folder))
    root = framework_folder()
    for room in FRAMEWORK_ROOMS:
        for name, path in package_files(root / room).items():
            if path.suffix in _FRAMEWORK_SUFFIXES:
                found[f"simulacrum/{room}/{name}"] = path
    return found


def package_files(folder: Path) -> dict[str, Path]:
    """The files below a folder by relative name, links followed; no bytecode, reports or hidden files."""
    return dict(_walk(folder, "", set()))


def _walk(folder: Path, prefix: str, above: set[str]) -> Iterator[tuple[str, Path]]:
    real = os.path.realpath(folder)
    if real in above or not folder.is_dir():  # a link back up would never end
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise _unreadable(error, folder, prefix or folder.name) from None
    for entry in entries:
        if entry.name in _LEFT_OUT or entry.name.startswith((".", NATIVE_PREFIX)) or entry.name.endswith((".pyc", "~")):
            continue
        path = folder / entry.name
        if entry.is_dir():
            yield from _walk(path, f"{prefix}{entry.name}/", above | {real})
        elif entry.is_file():
            yield prefix + entry.name, path


def compare(old: Digest, new: Digest) -> list[str]:
    """What changed from `old` to `new`, one sentence each, subjects first; empty when nothing did."""
    changes: list[str] = []
    for name in sorted({*old.subjects, *new.subjects}):
        before, after = old.subjects.get(name), new.subjects.get(name)
        if before == after:
            continue
        if before is None:
            changes.append(f"{name} was added")
        elif after is None:
            changes.append(f"{name} was removed")
        elif before in new.rewrapped.get(name, ()) or after in old.rewrapped.get(name, ()):
            changes.append(
                f"{name} changed in its line ends only (LF and CRLF); set `* text=auto eol=lf` in git"
            )
        else:
            changes.append(f"{name} changed")
    for key in sorted({*old.environment, *new.environment}):
        before, after = old.environment.get(key, "unknown"), new.environment.get(key, "unknown")
        if before != after:
            changes.append(f"{key.replace('_', ' ')} {before} -> {after}")
    return changes


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(error, path, name) from None


def _unreadable(error: OSError, path: Path, name: str) -> PackageError:
    return PackageError(
        f"{name} cannot be read: {error.strerror or error}",
        where=path,
        next_step="check its permissions",
    )


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
