"""A field of the schema through time, on both sides: what a chart draws and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.harness.page.story import Moment, Pair
from simulacrum.trace.bits import bits_of
from simulacrum.trace.difference import difference, shown
from simulacrum.trace.trajectory import Step
from simulacrum.view.tolerance import flat, forgiven, told

Get = Callable[[Moment], Any]
Texts = tuple[str, ...]  # the items of one value, row by row, each as decimal text


@dataclass(frozen=True)
class Apart:
    """An item that differs: its place among the field's items, both values as text and as bits, and the distance.

    tolerated: whether the field declares a tolerance, and the difference is within it.
    """

    item: int
    reference: str
    batched: str
    bits: tuple[str, str]
    ulp: int | None
    tolerated: bool = False


@dataclass(frozen=True)
class Series:
    """One field. kind: "flag" (a truth), "steps" (an integer), "line" (a float) or "grid" (several items).

    known: the values that occur. at: for each moment its place in `known`, None where the moment has no such value;
    of the batched side where the reference has ended. apart: moments in which both sides have a value, and differ.
    tolerance, reason: the declared tolerance in words, and why there is one; empty where bits are demanded.
    """

    group: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str
    known: tuple[Texts, ...]
    at: tuple[int | None, ...]
    apart: dict[int, tuple[Apart, ...]]
    tolerance: str = ""
    reason: str = ""

    def differs(self, moment: int) -> bool:
        """Whether the sides differ there by more than what is tolerated."""
        return any(not one.tolerated for one in self.apart.get(moment, ()))

    @property
    def parts(self) -> bool:
        """Whether the sides ever differ by more than what is tolerated."""
        return any(map(self.differs, self.apart))


class _Sides(NamedTuple):
    """A moment of both sides, and the batched one's with what is tolerated put to the reference's."""

    reference: Moment | None
    batched: Moment | None
    kept: Moment | None


def all_series(given: Sequence[Pair], schema: Schema, *, exact: bool = False) -> list[Series]:
    """Every field, in the order in which a step makes them: action, state, reward, return, ends, observation, info.

    `exact` tolerates nothing, whatever the schema declares: tolerances are between the twins, and none are between
    two forms or batches of one.
    """
    pairs = [_sides(pair, schema, exact) for pair in given]
    flag = Field(path="flag", name="flag", dtype="bool", shape=())
    found = [*_group(pairs, "action", schema.action), *_group(pairs, "state", schema.state)]
    found.append(_series(pairs, "", "reward", schema.reward, _getter("reward")))
    found.append(_returns(pairs))
    found += [_series(pairs, "", name, flag, _getter(name)) for name in ("terminated", "truncated")]
    found += _group(pairs, "observation", schema.observation)
    found += _group(pairs, "info", schema.info)
    if schema.action_mask is not None:
        found.append(_series(pairs, "", "action_mask", schema.action_mask, _getter("action_mask")))
    return found


def _sides(pair: Pair, schema: Schema, exact: bool) -> _Sides:
    one, two = pair.reference, pair.batched
    return _Sides(one, two, two if exact or one is None or two is None else forgiven(one, two, schema))


def _group(pairs: Sequence[_Sides], group: str, fields: Group) -> Iterator[Series]:
    for key, leaf in fields.items():
        if fields.single:
            yield _series(pairs, "", group, leaf, _getter(group))
        else:
            yield _series(pairs, group, key, leaf, _getter(group, key))


def _getter(name: str, key: str | None = None) -> Get:
    def get(moment: Moment) -> Any:
        value = getattr(moment, name, None)
        return value if key is None or value is None else value[key]

    return get


def _returns(pairs: Sequence[_Sides]) -> Series:
    """The rewards of the episode so far, added in order in float64."""
    totals: dict[int, float] = {}
    for side in ("reference", "batched", "kept"):
        total = 0.0
        for pair in pairs:
            moment: Moment | None = getattr(pair, side)
            if moment is not None:
                total = total + moment.reward if isinstance(moment, Step) else 0.0
                totals[id(moment)] = total
    leaf = Field(path="return", name="return", dtype="float64", shape=())
    return _series(pairs, "", "return", leaf, lambda moment: totals[id(moment)])


def _series(pairs: Sequence[_Sides], group: str, name: str, leaf: Field, get: Get) -> Series:
    known: dict[str, int] = {}
    texts: list[Texts] = []
    at: list[int | None] = []
    apart: dict[int, tuple[Apart, ...]] = {}
    for number, pair in enumerate(pairs):
        left, right, kept = (None if side is None else get(side) for side in pair)
        value = right if left is None else left
        if value is None:
            at.append(None)
            continue
        key = repr(value)
        if key not in known:
            known[key] = len(texts)
            texts.append(tuple(shown(item, leaf.dtype).decimal for item in flat(value)))
        at.append(known[key])
        if left is not None and right is not None and (key != repr(right) or "nan" in key):
            differing = tuple(_apart(leaf.dtype, left, right, kept))
            if differing:
                apart[number] = differing
    reason = "" if leaf.tolerance is None else leaf.tolerance.reason
    return Series(
        group, name, leaf.dtype, leaf.shape, _kind(leaf), tuple(texts), tuple(at), apart, told(leaf.tolerance), reason
    )  # fmt: skip


def _apart(dtype: str, left: Any, right: Any, kept: Any) -> Iterator[Apart]:
    for number, (one, two, three) in enumerate(zip(flat(left), flat(right), flat(kept), strict=True)):
        bits = bits_of(one, dtype)
        if bits != bits_of(two, dtype):
            found = difference("", "", (number,), one, two, dtype)
            a, b = found.reference, found.batched
            near = bits == bits_of(three, dtype)
            yield Apart(number, a.decimal, b.decimal, (a.bits or "", b.bits or ""), found.ulp, near)


def _kind(leaf: Field) -> str:
    if leaf.shape:
        return "grid"
    return "flag" if leaf.is_bool else "line" if leaf.is_float else "steps"
