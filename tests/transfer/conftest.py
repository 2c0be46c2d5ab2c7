"""Copies of toywalk with a report by hand, changed so that a policy meets it or so that the twins may differ."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from simulacrum.attest.catalog import CHECKS
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import write_report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package

ROOT = Path(__file__).parents[2]
REWARD, STEP = "reward = self._reward(at_goal)", "torch.full_like(at_goal, STEP_REWARD,"
# By name: the file, an old text and the new one.
EDITS = {
    # The goal pays 9 in the last ten steps of the clock: a policy that walks straight to it never sees that.
    "late": ("fast.py", REWARD, f"{REWARD} - (at_goal & (ctx.t >= 50)) * 1.0"),
    "tolerant": ("schema.json", '"reward": {', '"reward": {"x-atol": 3.0, "x-tolerance-reason": "a test", '),
    # Every step but the last costs so much more: the return falls by that for each.
    "a little": ("fast.py", STEP, "torch.full_like(at_goal, STEP_REWARD - 0.01,"),
    # The same but for roundings: a product with the reciprocal in place of a division.
    "reciprocal": ("fast.py", "float32) / MAX_EPISODE_STEPS", "float32) * (1 / MAX_EPISODE_STEPS)"),
    "endless": ("schema.json", '"x-max-episode-steps": 60', '"x-max-episode-steps": 100000'),
    "much": ("fast.py", STEP, "torch.full_like(at_goal, STEP_REWARD - 2.0,"),
}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder and a working directory of the test's own."""
    monkeypatch.setenv("SIMULACRUM_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def passing() -> Callable[[EnvPackage], Report]:
    """A passing, full report that nobody earned; the battery has its own tests and takes most of a minute."""

    def make(package: EnvPackage) -> Report:
        digest = compute_digest(package)
        return Report(
            package=package.name, env_id=package.env_id, full=True, started="2026-01-01T00:00:00Z",
            finished="2026-01-01T00:00:00Z", subjects=digest.subjects, environment=digest.environment,
            whole=digest.whole, checks={info.name: CheckResult("passed") for info in CHECKS},
            configurations=(Configuration(),),
        )  # fmt: skip

    return make


@pytest.fixture
def toywalk(tmp_path: Path, passing: Callable[[EnvPackage], Report]) -> Callable[..., EnvPackage]:
    """toywalk with some of `EDITS`, in a folder of its own, behind an open gate."""
    count = iter(range(100))

    def copy(*edits: str) -> EnvPackage:
        folder = tmp_path / f"copy{next(count)}" / "toywalk"
        left_out = shutil.ignore_patterns("__pycache__", "validation_report*", "native-*", "mutation_score*")
        shutil.copytree(ROOT / "envs" / "toywalk", folder, ignore=left_out)
        for name, old, new in map(EDITS.__getitem__, edits):
            text = (folder / name).read_text()
            assert old in text
            (folder / name).write_text(text.replace(old, new, 1))
        package = load_package(folder)
        write_report(package, passing(package))
        return package

    return copy
