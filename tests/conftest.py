"""How tests are spread over processes (`--dist loadgroup`, as `make test-long` asks)."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Files of which each test stands for itself and takes long: one goes here, the next one there. The tests of any other
# file share what is dear to make, a compiled library say, and stay together.
APART = {"mutants/test_mutants.py", "repo/test_docs.py", "scaffold/test_gym_package.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.path.relative_to(TESTS).as_posix()
        if name not in APART:
            item.add_marker(pytest.mark.xdist_group(name))
