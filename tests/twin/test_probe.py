"""A probe is data."""

from __future__ import annotations

import dataclasses

import pytest

from simulacrum.twin import Probe


def test_a_probe_says_what_it_expects_and_stays_so() -> None:
    probe = Probe(name="still", act=lambda observation, state, t: t % 2, low=1.0, high=2.0, episodes=5, why="counted")
    assert probe.seed == 0
    assert [probe.act(None, None, t) for t in range(3)] == [0, 1, 0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        probe.low = 0.0  # type: ignore[misc]  # what raises
