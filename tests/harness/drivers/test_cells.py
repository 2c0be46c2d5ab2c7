from __future__ import annotations

import numpy as np
import pytest
from kit import NAMES, package

from simulacrum.harness.bench import Bench, seeds_for
from simulacrum.harness.drivers.cells import NAN, _bins, _powers, cells, distinct
from simulacrum.harness.frames import BatchSide


@pytest.mark.parametrize("name", [*NAMES, "toywalk", "forager", "cartpole", "pendulum"])
def test_every_schema_has_cells(name: str) -> None:
    bench = Bench(package(name))
    frame = BatchSide(bench.env(40)).reset(seed=seeds_for(40, 1))
    table = cells(bench.schema, frame)
    assert table.dtype == np.int16
    assert len(table) == 40
    assert 1 <= len(distinct([table])) <= 40


def test_small_integers_stand_for_themselves_and_crowds_for_counts() -> None:
    bench = Bench(package("forager"))
    frame = BatchSide(bench.env(3)).reset(seed=[1, 2, 3])
    frame["state.x"], frame["state.y"] = np.array([0, 7, 7], np.int32), np.array([2, 2, 2], np.int32)
    frame["state.alive"][1, :4] = False
    table = cells(bench.schema, frame)
    assert table[:, :2].tolist() == [[0, 2], [7, 2], [7, 2]]
    assert table[:, -1].tolist() == [6, 2, 6]


def test_numbers_fall_into_bins() -> None:
    low, high = np.array([[0.0]]), np.array([[2.0]])
    given = np.array([[0.0], [0.26], [1.99], [2.0], [np.nan]])
    assert _bins(given, low, high)[:, 0].tolist() == [0, 1, 7, 8, NAN]
    powers = _powers(np.array([[0.0], [1.0], [1.9], [2.0], [-2.0], [np.inf], [np.nan]]))[:, 0].tolist()
    assert powers[0] == 0
    assert powers[1] == powers[2] != powers[3]
    assert powers[4] == -powers[3]
    assert powers[6] == NAN
