"""Two values that should have had the same bits, as records hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simulacrum.trace.bits import bits_of, spell_scalar
from simulacrum.trace.jsonio import short


@dataclass(frozen=True)
class Shown:
    """One scalar, for people: its decimal text, its bits in hex (None where it has none), its dtype."""

    decimal: str
    bits: str | None
    dtype: str


def shown(value: Any, dtype: str) -> Shown:
    """A scalar of one of the schema's dtypes (bool, int8..int64, uint8, float32, float64) as `Shown`. A
    value that does not fit the dtype is shown by its `repr`, without bits: then the type itself is the
    difference."""
    item = value.item() if hasattr(value, "item") else value
    bits = bits_of(item, dtype)
    if bits is None:
        return Shown(short(item), None, type(item).__name__)
    return Shown(str(spell_scalar(item, dtype)), bits, dtype)


@dataclass(frozen=True)
class Difference:
    """Two values that should have had the same bits.

    kind: "state", "observation", "reward", "terminated", "truncated", "info.<name>", "final_obs",
    "action_mask", ... field: path of the field, "" where the kind has only one. index: position inside it,
    () for a scalar. ulp: steps from one float to the other in their dtype; None for other dtypes and where
    either is NaN."""

    kind: str
    field: str
    index: tuple[int, ...]
    reference: Shown
    batched: Shown
    ulp: int | None = None

    @property
    def path(self) -> str:
        """`state.berry_x[2]`."""
        return ".".join(part for part in (self.kind, self.field) if part) + "".join(
            f"[{i}]" for i in self.index
        )


def difference(
    kind: str, name: str, index: Sequence[int], reference: Any, batched: Any, dtype: str
) -> Difference:
    """A `Difference` of two scalars of one dtype (Python or NumPy ones, or tensors of one item)."""
    one, two = shown(reference, dtype), shown(batched, dtype)
    return Difference(kind, name, tuple(int(i) for i in index), one, two, ulp_between(one, two))


def ulp_between(one: Shown, two: Shown) -> int | None:
    """How many floats of their dtype lie between two shown floats; +0.0 and -0.0 are one step apart."""
    if one.dtype != two.dtype or not one.dtype.startswith("float") or one.bits is None or two.bits is None:
        return None
    if "nan" in one.decimal or "nan" in two.decimal:
        return None
    width = int(one.dtype[5:])
    places: list[int] = []
    for bits in (int(one.bits, 16), int(two.bits, 16)):
        sign, size = bits >> (width - 1), bits & ((1 << (width - 1)) - 1)
        places.append(-size - 1 if sign else size)  # -0.0 stands just below +0.0: a difference is never 0 ulp
    return abs(places[0] - places[1])
