"""One field at one moment on both sides, item by item: what a cell of the timeline shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulacrum.contract.fields import Field
from simulacrum.trace.difference import Difference, difference, shown

MOST_ITEMS = 24  # items of a shaped field that a cell shows; of a longer one the first, and those that differ
FEW_ITEMS = 8


@dataclass(frozen=True)
class Item:
    """One scalar on both sides; a side without it is "". bits: both, in hex. label: its index, where one is needed."""

    reference: str
    batched: str
    differs: bool
    bits: tuple[str, str] = ("", "")
    ulp: int | None = None
    label: str = ""


@dataclass(frozen=True)
class Cell:
    """A field at one moment. left_out: how many items are not shown, all of them equal."""

    items: tuple[Item, ...]
    left_out: int = 0

    @property
    def differs(self) -> bool:
        return any(item.differs for item in self.items)

    @property
    def equal_items(self) -> int:
        """How many of the field's items are equal."""
        return self.left_out + sum(not item.differs for item in self.items)


@dataclass(frozen=True)
class Row:
    """A field through time; None where a moment has no such value."""

    group: str
    name: str
    cells: tuple[Cell | None, ...]

    @property
    def differs(self) -> bool:
        return any(cell is not None and cell.differs for cell in self.cells)


def compared(leaf: Field, one: Any, two: Any) -> Cell:
    """A field's values of both sides, plain; None for a side that has none. Equal is what has the same bits."""
    left, right = dict(_flat(one)), dict(_flat(two))
    found = [_item(leaf.dtype, index, left, right) for index in dict.fromkeys([*left, *right])]
    if len(found) <= MOST_ITEMS:
        return Cell(tuple(item if item.differs else replace(item, label="") for item in found))
    shown_ones = [item for i, item in enumerate(found) if i < FEW_ITEMS or item.differs][:MOST_ITEMS]
    return Cell(tuple(shown_ones), len(found) - len(shown_ones))


def _item(dtype: str, index: tuple[int, ...], left: Mapping[Any, Any], right: Mapping[Any, Any]) -> Item:
    label = "".join(f"[{i}]" for i in index)
    if index not in left or index not in right:  # one side has no file, or ended earlier: nothing is compared
        value = shown(left.get(index, right.get(index)), dtype)
        texts = (value.decimal, "") if index in left else ("", value.decimal)
        return Item(*texts, False, (value.bits or "", value.bits or ""), None, label)
    found: Difference = difference("", "", index, left[index], right[index], dtype)
    one, two = found.reference, found.batched
    differs = (one.bits, one.decimal if one.bits is None else "") != (two.bits, two.decimal if two.bits is None else "")
    return Item(one.decimal, two.decimal, differs, (one.bits or "", two.bits or ""), found.ulp, label)


def _flat(value: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _flat(item, (*index, i))
    elif value is not None:
        yield index, value
