"""A copy of toywalk that may be edited, and reports about it made by the project's own functions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulacrum.attest.canonical import seal_of
from simulacrum.attest.catalog import CHECKS
from simulacrum.attest.report import CheckResult, Configuration, Report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package

MakeReport = Callable[..., Report]
ENVS = Path(__file__).resolve().parents[2] / "envs"


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory, a fresh one for each test."""
    folder = tmp_path / "state"
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(folder))
    return folder


@pytest.fixture
def package(tmp_path: Path) -> EnvPackage:
    folder = tmp_path / "work" / "toywalk"
    made = shutil.ignore_patterns("__pycache__", "validation_report*", "mutation_score.json")
    shutil.copytree(ENVS / "toywalk", folder, ignore=made)
    return load_package(folder)


@pytest.fixture
def make_report(package: EnvPackage) -> MakeReport:
    """A function that gives a passing, full report of the package as it is now; keywords replace its parts.

    `failed` names checks that failed.
    """

    def make(*, failed: tuple[str, ...] = (), **changes: Any) -> Report:
        digest = compute_digest(package)
        ranges = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
        checks = {
            info.name: CheckResult("failed", 0.5, f"{info.name} broke at step 3", {"step": 3})
            if info.name in failed
            else CheckResult("passed", 0.25, "", {"rows": 7, "share": 0.1})
            for info in CHECKS
        }
        parts: dict[str, Any] = {
            "package": package.name,
            "env_id": package.env_id,
            "full": True,
            "started": "2025-01-01T10:00:00+00:00",
            "finished": "2025-01-01T10:00:30+00:00",
            "subjects": digest.subjects,
            "environment": digest.environment,
            "whole": digest.whole,
            "checks": checks,
            "configurations": (Configuration(params=ranges, batch_sizes=(1, 7, 64)),),
            "throughput": {"fast": 1.5e6},
        }
        return Report(**{**parts, **changes})

    return make


@pytest.fixture
def reseal() -> Callable[[Path, Callable[[dict[str, Any]], None]], None]:
    """A function that edits a report file and seals it anew, as if written elsewhere."""

    def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
        body = json.loads(path.read_text())
        change(body)
        body["seal"] = seal_of(body)
        path.write_text(json.dumps(body))

    return edit
