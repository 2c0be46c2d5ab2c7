"""Row seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulacrum.engine.seeding import SEED_LIMIT, check_seed, entropy, row_seeds
from simulacrum.errors import UsageError


def test_one_integer_counts_up() -> None:
    assert row_seeds(5, 3) == row_seeds(np.uint8(5), 3) == row_seeds(np.array(5), 3) == [5, 6, 7]
    assert row_seeds(np.uint8(254), 3) == [254, 255, 256]  # and does not wrap
    assert row_seeds(SEED_LIMIT - 1, 1) == [SEED_LIMIT - 1]


def test_a_list_is_taken_as_it_is() -> None:
    assert row_seeds([3, None, np.int64(1)], 3) == [3, None, 1]
    assert all(type(seed) is int for seed in row_seeds(np.arange(3), 3))
    assert row_seeds(None, 2) == [None, None]


@pytest.mark.parametrize("seed", [True, 1.0, "1", b"1", {1: 2}, [True], [1.0], [[1]], np.array(1.5), [-1], SEED_LIMIT])
def test_what_is_no_seed(seed: Any) -> None:
    with pytest.raises(UsageError, match="seed"):
        row_seeds(seed, 1)


def test_entropy_differs_and_is_a_seed() -> None:
    drawn = {entropy() for _ in range(64)}
    assert len(drawn) == 64
    assert all(check_seed(seed) == seed for seed in drawn)
