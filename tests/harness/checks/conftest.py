"""A bench for one check, and packages with one line changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.running import run_check

CheckRun = Callable[..., Outcome]


@pytest.fixture
def check(tmp_path: Path) -> CheckRun:
    """`check(name, package, **bench)`: the outcome of one quick check."""

    def run(name: str, given: str | EnvPackage, **settings: Any) -> Outcome:
        judged = package(given) if isinstance(given, str) else given
        options: dict[str, Any] = {"forms": ("eager",), "quick": True, "failures": tmp_path / "failures"}
        options.update({"shrink": False, **settings})
        return run_check(Bench(judged, **options), name)[0]

    return run


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., EnvPackage]:
    """`changed("toywalk", (file, old, new), ...)`: the package with these places of its files edited."""

    def make(name: str, *edits: tuple[str, str, str]) -> EnvPackage:
        return load_package(copy_env(name, tmp_path / "changed", [Edit(*edit) for edit in edits]))

    return make
