"""One relation at a time, on packages and engines with a fault in them."""

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

Relation = Callable[..., Outcome]


@pytest.fixture
def relation(tmp_path: Path) -> Relation:
    """`relation("determinism.action_forms", package, *edits)`: the outcome of one sub-check, quick and eager."""

    def run(path: str, given: str | EnvPackage, *edits: tuple[str, str, str], **settings: Any) -> Outcome:
        judged = given if isinstance(given, EnvPackage) else package(given)
        if edits:
            folder = copy_env(str(given), tmp_path / "changed", [Edit(*edit) for edit in edits])
            judged = load_package(folder)
        options: dict[str, Any] = {"forms": ("eager",), "quick": True, "failures": tmp_path / "failures"}
        options.update({"shrink": False, **settings})
        check, _, part = path.partition(".")
        outcome = run_check(Bench(judged, **options, asked=frozenset((path,))), check)[0]
        assert not outcome.parts or list(outcome.parts) == [part]
        return outcome

    return run
