"""The versions and the platform under which an environment is judged, learned without importing any of it."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys

from simulacrum.contract.origins import top_file


def environment() -> dict[str, str]:
    """Python, torch (with the hash it was built from), NumPy, Gymnasium, system and machine.

    A distribution that is not installed has the version "absent".
    """
    torch_version, torch_git = torch_build()
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "python_implementation": platform.python_implementation(),
        "torch": torch_version,
        "torch_git": torch_git,
        "numpy": _version("numpy"),
        "gymnasium": _version("gymnasium"),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def torch_build() -> tuple[str, str]:
    """torch's version and the git hash it was built from, read from its version.py as text."""
    version, git = _version("torch"), "unknown"
    file = top_file("torch")
    if file is None:
        return "absent", "absent"
    try:
        text = (file.parent / "version.py").read_text(encoding="utf-8")
    except OSError:
        return version, git
    stated = re.search(r"^__version__\s*=\s*['\"](.+?)['\"]", text, re.MULTILINE)
    built = re.search(r"^git_version\s*(?::[^=]*)?=\s*['\"](.+?)['\"]", text, re.MULTILINE)
    return stated[1] if stated else version, built[1] if built else git


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
