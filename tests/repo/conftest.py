"""What the tests of the repository share: its files, and fresh Python processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE_BY_TOOLS = {
    "__pycache__", "build", "dist", "site", "runs", "checkpoints", "failures", "simulacrum.egg-info"
}  # fmt: skip

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project_files() -> list[str]:
    """Every file of the project as a path from its root, without ignored ones; also where git is not."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0:
        return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [
        path.as_posix()
        for path in paths
        if not MADE_BY_TOOLS & set(path.parts)
        and not (path.parts[0].startswith(".") and path.parts[0] not in {".ci", ".gitignore"})
        and path.name != "validation_report.json"
    ]


@pytest.fixture(scope="session")
def run_python() -> Run:
    """Return a function that runs code in a fresh interpreter and returns the finished process."""

    def run(code: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)

    return run
