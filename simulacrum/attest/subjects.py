"""Whether the files and the environment that a report names are those that are here now.

A report lists every file it judged. They are hashed again from that list, so asking takes milliseconds and
imports no twin. A file that has come into the package's folder or the framework's rooms is a change too.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulacrum.contract.digest import Digest, compare, subject_files
from simulacrum.contract.environment import environment
from simulacrum.contract.loader import changed_files
from simulacrum.contract.origins import module_file
from simulacrum.contract.outside import versions_like

if TYPE_CHECKING:
    from simulacrum.attest.record import Report
    from simulacrum.contract.package import EnvPackage


class Present:
    """The files of a package and the environment as they are now; each file is read once at most."""

    def __init__(self, package: EnvPackage) -> None:
        self._package = package
        self._files = {
            name: path
            for name, path in subject_files(package).items()
            # What else the loaded modules import differs from process to process; such a file counts where
            # the report names it, and cannot become new without a change in a file that the report names.
            if name.startswith(self._folders())
        }
        self._content: dict[Path, bytes | None] = {}
        self._environment = environment()

    def changes_since(self, report: Report) -> list[str]:
        """What differs from what `report` judged, one sentence each; empty when nothing does."""
        elsewhere = [name for name in report.subjects if not name.startswith(self._folders())]
        located = {name: path for name in elsewhere if (path := _imported_file(name)) is not None}
        files = {**self._files, **located}
        hashes: dict[str, str] = {}
        rewrapped: dict[str, tuple[str, str]] = {}
        for name, path in files.items():
            data = self._read(path)
            if data is None:
                continue  # gone, or unreadable: no longer the file that was judged
            hashes[name] = hashlib.sha256(data).hexdigest()
            if hashes[name] != report.subjects.get(name) and b"\0" not in data:
                rewrapped[name] = _both_line_ends(data)
        recorded = Digest(report.subjects, report.environment, report.whole)
        now = Digest(hashes, self._environment_like(report.environment), "", rewrapped)
        outdated = [
            f"{name} changed after this process imported it (start a new process)"
            for name in changed_files(self._package.import_name)
        ]
        return [*outdated, *compare(recorded, now)]

    def _folders(self) -> tuple[str, str]:
        return f"envs/{self._package.name}/", "simulacrum/"

    def _environment_like(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """The environment now; what only torch can tell is taken over where it is not loaded."""
        capability = cpu_capability()
        known = (
            {} if capability is None or "cpu_capability" not in recorded else {"cpu_capability": capability}
        )
        return {**recorded, **self._environment, **versions_like(recorded), **known}

    def _read(self, path: Path) -> bytes | None:
        if path not in self._content:
            try:
                self._content[path] = path.read_bytes()
            except OSError:
                self._content[path] = None
        return self._content[path]


def cpu_capability() -> str | None:
    """Which CPU kernels torch picks in this process ("AVX2", say); None as long as torch is not loaded."""
    torch = sys.modules.get("torch")
    return None if torch is None else str(torch.backends.cpu.get_cpu_capability())


def _imported_file(name: str) -> Path | None:
    """The file of a module outside the package, from its name: "mylib/rules.py" is mylib.rules."""
    stem = name.removesuffix(".py").removesuffix("/__init__")
    return module_file(stem.replace("/", ".")) if name.endswith(".py") else None


def _both_line_ends(data: bytes) -> tuple[str, str]:
    plain = data.replace(b"\r\n", b"\n")
    return hashlib.sha256(plain).hexdigest(), hashlib.sha256(plain.replace(b"\n", b"\r\n")).hexdigest()
