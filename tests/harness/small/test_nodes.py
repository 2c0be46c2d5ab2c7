"""Places: each once, and nothing of one that cannot be shown."""

from __future__ import annotations

import numpy as np
import pytest
from kit import package

from simulacrum.errors import TwinError
from simulacrum.harness.small.nodes import Nodes, Scalar


def test_a_place_that_cannot_be_shown_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = Nodes(Scalar(package("counter")))
    state = nodes.scalar.env.State
    first = nodes.number(state(count=1, mark=0), 3)
    with monkeypatch.context() as patch:
        patch.setattr(nodes.scalar.env, "info", lambda state, ctx: {})
        with pytest.raises(TwinError):
            nodes.number(state(count=2, mark=0), 3)
    assert len(nodes) == 1
    second = nodes.number(state(count=2, mark=0), 3)
    frame = nodes.frame(np.array([second, first]))
    assert {len(column) for column in frame.values()} == {2}
    assert frame["state.count"].tolist() == [2, 1]
