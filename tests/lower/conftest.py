"""One thread, and one compiled library for the `CASES` of a module."""

from __future__ import annotations

import pytest
import torch
from kit.lowering import Bench

from simulacrum.lower.compiler import find_compiler


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The module's CASES in one library."""
    if find_compiler() is None:
        pytest.skip("no C compiler")
    return Bench(request.module.CASES, tmp_path_factory.mktemp("lower"))
