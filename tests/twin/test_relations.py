"""A relation is data, and leaves alone what it does not name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from simulacrum.twin.relations import Dead, Derived, NoOp, Symmetry


def test_a_symmetry_leaves_alone_what_it_does_not_name() -> None:
    one = Symmetry("mirror", action=lambda action: 1 - action)
    assert one.action(0) == 1
    assert one.state is one.observation is one.info is one.reward is one.action_mask
    assert one.state("s") == "s"
    assert one.draws({"slip": 1}) == {}
    assert one.when is None
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]  # what raises


def test_every_relation_has_a_name() -> None:
    still = NoOp("still", action=0)
    assert (still.name, still.clocks, still.draws, still.reward) == ("still", (), {}, None)
    assert Dead(["x", "y"], where=lambda state: state).name == "x, y"
    assert Derived("info.left", lambda state, ctx: state).name == "info.left"


def test_declaring_needs_no_torch() -> None:
    code = "import sys, simulacrum.twin.relations; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
