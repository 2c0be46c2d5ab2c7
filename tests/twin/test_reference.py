"""The readable twin's base."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from kit import package

from simulacrum.twin.reference import Context, ReferenceEnv, Transition


@pytest.mark.parametrize("method", ["reset", "step", "observe", "action_mask"])
def test_what_an_author_has_not_written_is_named(method: str) -> None:
    env: Any = ReferenceEnv(package("counter").schema)
    with pytest.raises(NotImplementedError, match=method):
        getattr(env, method)(*([None] * {"reset": 1, "step": 3}.get(method, 2)))
    assert env.info(None, None) == {}


def test_what_a_twin_is_given_and_gives() -> None:
    env = ReferenceEnv(package("counter").schema)
    assert env.State._fields == ("count", "mark")
    assert Context._fields == ("draw", "t", "params")
    assert Transition("s", 1.0, True) == ("s", 1.0, True, False)


def test_the_room_loads_no_torch() -> None:
    done = subprocess.run([sys.executable, "-c", "import sys, simulacrum.twin; print('torch' in sys.modules)"],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("False", "")
