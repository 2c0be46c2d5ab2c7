"""How tests are spread over processes (`--dist loadgroup`, as `make test-long` asks)."""

from __future__ import annotations

from typing import Any

import pytest

# Files of which each test stands for itself and takes long: one goes here, the next one there. The tests of any other
# file share what is dear to make, a compiled library say, and stay together.
APART = ("tests/mutants/test_mutants.py", "tests/repo/test_docs.py", "tests/scaffold/test_gym_package.py")


def group(nodeid: str) -> str:
    """The tests that run one after the other in one process, as a name they share."""
    file = nodeid.partition("::")[0]
    return nodeid if file in APART else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """By `group`. The marks of pytest-xdist 3.8 would say the same, but under pytest 9.2 they are not heeded."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group(nodeid)

    return ByGroup(config, log)
