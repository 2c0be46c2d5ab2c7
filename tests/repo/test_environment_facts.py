"""tools/environment_facts.py: what it keeps of a validation is what the report says, and nothing without one."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulacrum.attest.catalog import CHECKS
from simulacrum.attest.mutation import Score, digests, now, write_score
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import write_report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.errors import GateError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import environment_facts  # noqa: E402  # after its folder is on the path

EVIDENCE: dict[str, Any] = {
    "compared_transitions": 1000,
    "native_transitions": 234,
    "small_model": {"states": 5, "transitions": 10, "complete": True, "max_episode_steps": 3, "constants": {}, "x": 1},
}


@pytest.fixture
def package(tmp_path: Path) -> EnvPackage:
    """toywalk in another folder, without a report."""
    folder = tmp_path / "toywalk"
    left_out = shutil.ignore_patterns("__pycache__", "*_report.json", "mutation_score.json", "native-*")
    shutil.copytree(ROOT / "envs" / "toywalk", folder, ignore=left_out)
    return load_package(folder)


def report(package: EnvPackage) -> Report:
    digest = compute_digest(package)
    checks = {info.name: CheckResult("passed") for info in CHECKS}
    checks["differential"] = replace(checks["differential"], evidence=EVIDENCE)
    return Report(
        package=package.name, env_id=package.env_id, full=True,
        started="2026-01-01T00:00:00Z", finished="2026-01-02T00:00:00Z",
        subjects=digest.subjects, environment=digest.environment, whole=digest.whole,
        checks=checks, configurations=(Configuration(), Configuration(compile="inductor")),
    )  # fmt: skip


def test_keeps_what_the_report_says(package: EnvPackage) -> None:
    write_report(package, report(package))
    kept = environment_facts.summary(package)
    small = {"states": 5, "transitions": 10, "complete": True, "max_episode_steps": 3, "constants": {}}
    assert kept["small_model"] == small
    assert kept["transitions"] == 1234
    assert kept["forms"] == ["eager", "inductor"]
    assert kept["score"] is None
    assert kept["made"] == "2026-01-02"
    assert kept["package"] == digests(package)[0]
    assert kept["with"].startswith("torch ")


def test_a_score_is_kept_until_the_package_changes(package: EnvPackage) -> None:
    own, framework = digests(package)
    score = Score(env_id=package.env_id, killed=7, counted=8, planted=20, sampled=9, seconds=1.0, finished=now(),
                  package=own, battery=framework)  # fmt: skip
    write_report(package, report(package))
    write_score(package, score)
    assert environment_facts.summary(package)["score"] == {"killed": 7, "counted": 8, "planted": 20, "sampled": 9}
    write_score(package, replace(score, package="another"))
    assert environment_facts.summary(package)["score"] is None


def test_without_a_full_report_nothing_is_written(
    package: EnvPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(environment_facts, "OUT", out)
    monkeypatch.setattr(environment_facts, "ROOT", tmp_path)
    with pytest.raises(GateError):
        environment_facts.main([str(package.folder)])
    assert list(out.iterdir()) == []
    write_report(package, report(package))
    assert environment_facts.main([str(package.folder)]) == 0
    assert json.loads((out / "toywalk-validation.json").read_text())["transitions"] == 1234
