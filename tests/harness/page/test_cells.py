"""What a cell of the timeline says about one field on both sides."""

from __future__ import annotations

from simulacrum.contract.fields import Field
from simulacrum.harness.page.cells import FEW_ITEMS, Row, compared

ONE = Field(path="x", name="x", dtype="float32", shape=())
MANY = Field(path="many", name="many", dtype="int32", shape=(100,))


def test_equal_is_what_has_the_same_bits() -> None:
    assert not compared(ONE, 0.5, 0.5).differs
    assert not compared(ONE, float("nan"), float("nan")).differs
    zeros = compared(ONE, 0.0, -0.0)
    assert zeros.differs
    (item,) = zeros.items
    assert (item.reference, item.batched, item.bits, item.ulp) == ("0.0", "-0.0", ("0x00000000", "0x80000000"), 1)


def test_a_long_field_shows_its_first_items_and_those_that_differ() -> None:
    one, two = list(range(100)), list(range(100))
    two[70] = -1
    cell = compared(MANY, one, two)
    assert cell.left_out == 100 - FEW_ITEMS - 1
    assert cell.items[-1].label == "[70]"
    assert cell.items[-1].differs
    assert cell.equal_items == 99
    assert Row("state", "many", (None, cell)).differs


def test_a_short_field_is_shown_whole_and_labels_only_what_differs() -> None:
    cell = compared(MANY, [1, 2], [1, 3])
    assert [(item.label, item.differs) for item in cell.items] == [("", False), ("[1]", True)]


def test_a_side_that_is_missing_is_not_held_against_the_other() -> None:
    cell = compared(ONE, 0.5, None)
    assert not cell.differs
    assert (cell.items[0].reference, cell.items[0].batched) == ("0.5", "")
