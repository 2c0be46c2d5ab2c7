"""Training scripts as modules, and environments whose gate is open."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest
import torch

import simulacrum
from simulacrum.attest.catalog import CHECKS
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import write_report
from simulacrum.contract.digest import compute_digest
from simulacrum.contract.package import EnvPackage, load_package

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
COUNTER = ROOT / "tests" / "kit" / "counter"


@pytest.fixture(scope="session")
def script() -> Iterator[Callable[[str], ModuleType]]:
    """Imports training/NAME.py as a module, with its folder on the path as when it is run."""
    sys.path.insert(0, str(ROOT / "training"))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    threads = torch.get_num_threads()
    yield load
    torch.set_num_threads(threads)
    sys.path.remove(str(ROOT / "training"))
    folder = str(ROOT / "training")
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]


@pytest.fixture
def validated(tmp_path: Path) -> Iterator[Callable[..., EnvPackage]]:
    """Copies a package, writes it a passing report by hand and registers it.

    The battery itself has its own tests and takes most of a minute; here it is only asked whether a script
    trains behind an open gate and stops at a closed one. The copy is in a temporary folder, so no report that
    was not earned lies beside a real environment. `schema` is a piece of schema.json and what to put there.
    """
    before = dict(gym.registry)

    def open_gate(source: Path, schema: tuple[str, str] = ("", "")) -> EnvPackage:
        folder = tmp_path / "packages" / source.name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__", "validation_report.json"))
        text = (folder / "schema.json").read_text()
        (folder / "schema.json").write_text(text.replace(*schema, 1))
        package = load_package(folder)
        write_report(package, passing(package))
        simulacrum.register_envs(folder)
        return package

    yield open_gate
    gym.registry.clear()
    gym.registry.update(before)


def passing(package: EnvPackage) -> Report:
    digest = compute_digest(package)
    return Report(
        package=package.name,
        env_id=package.env_id,
        full=True,
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T00:00:00Z",
        subjects=digest.subjects,
        environment=digest.environment,
        whole=digest.whole,
        checks={info.name: CheckResult("passed") for info in CHECKS},
        configurations=(Configuration(params=_validated(package)),),
    )


def _validated(package: EnvPackage) -> dict[str, tuple[float, float]]:
    """All that the schema allows a parameter to be, which is what a full run judges."""
    ends = {name: (param.field.low, param.field.high) for name, param in package.schema.params.items()}
    return {name: (float(low), float(high)) for name, (low, high) in ends.items() if None not in (low, high)}


@pytest.fixture
def validate_again() -> Callable[[EnvPackage], None]:
    """Writes a passing report by hand for a package as its files are now."""
    return lambda package: write_report(package, passing(package)) and None


@pytest.fixture
def forager(validated: Callable[..., EnvPackage]) -> EnvPackage:
    return validated(ROOT / "envs" / "forager")


@pytest.fixture
def toywalk(validated: Callable[..., EnvPackage]) -> EnvPackage:
    return validated(ROOT / "envs" / "toywalk")


@pytest.fixture
def aim(validated: Callable[..., EnvPackage]) -> EnvPackage:
    return validated(DATA / "aim")


@pytest.fixture
def recall(validated: Callable[..., EnvPackage]) -> EnvPackage:
    return validated(DATA / "recall")


@pytest.fixture
def shown(validated: Callable[..., EnvPackage]) -> EnvPackage:
    return validated(DATA / "shown")


@pytest.fixture
def cut_off(validated: Callable[..., EnvPackage]) -> EnvPackage:
    """counter, every episode of which is cut off after 7 steps."""
    return validated(COUNTER)


@pytest.fixture
def terminated(validated: Callable[..., EnvPackage]) -> EnvPackage:
    """counter, every episode of which is terminated, and cut off as well, after 7 steps."""
    return validated(COUNTER, ('"maximum": 1000, "default": 1000', '"maximum": 1000, "default": 7'))
