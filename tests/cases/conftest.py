"""One thread, and counter registered behind a gate that its own true report opens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import kit
import pytest
import torch

from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.attest.report import CheckResult, Configuration, Report, write_report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import load_package
from simulacrum.registry import register_envs


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def counter_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The id of a copy of counter, registered with its limit of 7, with the report that a full run would write."""
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "counter"
    shutil.copytree(kit.FOLDER / "counter", folder, ignore=shutil.ignore_patterns("__pycache__"))
    package = load_package(folder)
    digest = compute_digest(package)
    ranges = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
    write_report(
        package,
        Report(
            package=package.name,
            env_id=package.env_id,
            full=True,
            started="2025-01-01T10:00:00+00:00",
            finished="2025-01-01T10:00:30+00:00",
            subjects=digest.subjects,
            environment=digest.environment,
            whole=digest.whole,
            checks={name: CheckResult("passed") for name in CHECK_NAMES},
            configurations=(Configuration(params=ranges),),
        ),
    )
    before = dict(gym.registry)
    register_envs(folder)
    yield package.env_id
    gym.registry.clear()
    gym.registry.update(before)
