"""minigrid_empty's scripted policies: that their returns are what the probes say, played in the batched twin."""

from __future__ import annotations

import pytest
from kit.minigrid import play_fast

from simulacrum.contract.package import load_package

PROBES = {probe.name: probe for probe in load_package("minigrid_empty").module("probes").PROBES}


@pytest.mark.parametrize("name", sorted(PROBES))
def test_returns(name: str) -> None:
    returns, lengths = play_fast("minigrid_empty", PROBES[name])
    assert all(PROBES[name].low <= one <= PROBES[name].high for one in returns)
    assert set(lengths) == ({256} if name == "spin" else {11})


def test_the_quickest_way_is_the_quickest() -> None:
    """No order of turns and steps comes to the goal of the default room in fewer than 11."""
    reached = {(1, 1, 0)}
    ways = ((1, 0), (0, 1), (-1, 0), (0, -1))
    for steps in range(1, 12):
        turned = {(x, y, (d + by) % 4) for x, y, d in reached for by in (1, 3)}
        moved = {(x + ways[d][0], y + ways[d][1], d) for x, y, d in reached}
        reached = turned | {(x, y, d) for x, y, d in moved if 1 <= x <= 6 and 1 <= y <= 6}
        assert any((x, y) == (6, 6) for x, y, _ in reached) == (steps == 11)
