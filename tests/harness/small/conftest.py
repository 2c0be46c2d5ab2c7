"""Single steps of packages with a fault in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from kit import package
from mutants.mutant import Edit, copy_env

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.bench import Bench, Outcome
from simulacrum.harness.small.checks import SingleSteps

Steps = Callable[..., Outcome]
Changed = Callable[..., EnvPackage]


@pytest.fixture(autouse=True)
def _without_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    """`steps(sub_check, package, **bench)`: the outcome of one sub-check of single steps."""

    def run(name: str, given: str | EnvPackage, **settings: Any) -> Outcome:
        judged = package(given) if isinstance(given, str) else given
        options: dict[str, Any] = {"forms": ("eager",), "quick": True, "failures": tmp_path / "failures", **settings}
        return getattr(SingleSteps(Bench(judged, check="differential", **options)), name)()

    return run


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """`changed("toywalk", (file, old, new), ..., small=text)`: the package with these places of its files edited."""
    number = itertools.count()

    def make(name: str, *edits: tuple[str, str, str], small: str | None = None) -> EnvPackage:
        folder = copy_env(name, tmp_path / f"changed-{next(number)}", [Edit(*edit) for edit in edits])
        if small is not None:
            (folder / "small.json").write_text(small)
        return load_package(folder)

    return make
