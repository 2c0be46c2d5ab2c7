"""Copies that share nothing, differences with their place, and membership that casts nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces

from simulacrum.conformance.membership import misfit, outside
from simulacrum.conformance.values import Difference, clone, difference, short


def test_clone_shares_nothing():
    objects = np.array([np.zeros(2), None], dtype=object)
    tree = {"a": np.zeros(3), "b": (torch.zeros(2), objects)}
    kept = clone(tree)
    tree["a"][0], tree["b"][0][1] = 1, 1
    objects[0][0] = 5
    assert kept["a"][0] == 0
    assert kept["b"][0][1] == 0
    assert kept["b"][1][0][0] == 0


@pytest.mark.parametrize(
    ("found", "expected", "parted"),
    [
        (np.float32([1, np.nan]), np.float32([1, np.nan]), None),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), ("x", 1, "2", "3")),
        (np.zeros((2, 3)), np.eye(2, 3), ("x[0]", 0, "0.0", "1.0")),
        (np.zeros(2, np.float32), np.zeros(2), ("x", None, "dtype float32", "dtype float64")),
        ({"a": np.zeros(2)}, {"b": np.zeros(2)}, ("x.a", None, "x.a", "x.b")),
        (np.array([None, np.ones(1)], object), np.array([None, np.zeros(1)], object), ("x", 1, "1.0", "0.0")),
        (3, 4, ("x", None, "3", "4")),
    ],
)
def test_difference_has_its_place(found, expected, parted):
    told = difference(found, expected, "x")
    assert told == (None if parted is None else Difference(*parted))


def test_close_is_for_rounding_alone():
    one = np.float32([1.0])
    assert difference(one, one * np.float32(1.00001), close=True) is None
    assert difference(one, one * np.float32(1.01), close=True) is not None


def test_membership_casts_nothing_and_knows_tensors():
    box = spaces.Box(0, 1, (2, 3), dtype=np.float32)
    assert misfit(box, torch.zeros(2, 3), "o") is None
    assert misfit(box, torch.zeros(2, 3, dtype=torch.float64), "o").what == "another dtype than the space"
    assert misfit(box, np.zeros((3, 2), np.float32), "o").found == "(3, 2)"
    assert misfit(spaces.MultiDiscrete([3, 3]), torch.tensor([0, 2]), "o") is None
    assert misfit(spaces.Dict(a=box), {"b": 1}, "o").what == "another structure than the space"
    assert misfit(spaces.Tuple([box]), (box.sample(), 1), "o").expected == "1 entries"
    wrong = outside(box, torch.tensor([[0, 0, 0], [0, 2.0, 0]]), "o")
    assert (wrong.row, wrong.field, wrong.found) == (1, "o[1]", "2.0")
    assert outside(spaces.MultiDiscrete([3, 3]), np.array([0, 3]), "o").row == 1
    assert outside(box, np.full((2, 3), np.nan, np.float32), "o") is not None


def test_short_is_one_line():
    assert short(np.zeros((100, 3))) == "float64[100, 3]"
    assert len(short("x\n" * 200)) == 100
