"""A field of the schema through time, on both sides: what a chart draws and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simulacrum.contract.fields import Field, Group
from simulacrum.contract.schema import Schema
from simulacrum.harness.page.story import Moment, Pair
from simulacrum.trace.bits import bits_of
from simulacrum.trace.difference import difference, shown
from simulacrum.trace.trajectory import Step

Get = Callable[[Moment], Any]
Texts = tuple[str, ...]  # the items of one value, row by row, each as decimal text


@dataclass(frozen=True)
class Apart:
    """An item that differs: its place among the field's items, both values as text and as bits, and the distance."""

    item: int
    reference: str
    batched: str
    bits: tuple[str, str]
    ulp: int | None


@dataclass(frozen=True)
class Series:
    """One field. kind: "flag" (a truth), "steps" (an integer), "line" (a float) or "grid" (several items).

    known: the values that occur. at: for each moment its place in `known`, None where the moment has no such value;
    of the batched side where the reference has ended. apart: moments in which both sides have a value, and differ.
    """

    group: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: str
    known: tuple[Texts, ...]
    at: tuple[int | None, ...]
    apart: dict[int, tuple[Apart, ...]]


def all_series(pairs: Sequence[Pair], schema: Schema) -> list[Series]:
    """Every field, in the order in which a step makes them: action, state, reward, return, ends, observation, info."""
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


def _group(pairs: Sequence[Pair], group: str, fields: Group) -> Iterator[Series]:
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


def _returns(pairs: Sequence[Pair]) -> Series:
    """The rewards of the episode so far, added in order in float64."""
    totals: dict[int, float] = {}
    for side in ("reference", "batched"):
        total = 0.0
        for pair in pairs:
            moment: Moment | None = getattr(pair, side)
            if moment is not None:
                total = total + moment.reward if isinstance(moment, Step) else 0.0
                totals[id(moment)] = total
    leaf = Field(path="return", name="return", dtype="float64", shape=())
    return _series(pairs, "", "return", leaf, lambda moment: totals[id(moment)])


def _series(pairs: Sequence[Pair], group: str, name: str, leaf: Field, get: Get) -> Series:
    known: dict[str, int] = {}
    texts: list[Texts] = []
    at: list[int | None] = []
    apart: dict[int, tuple[Apart, ...]] = {}
    for number, pair in enumerate(pairs):
        left, right = (None if side is None else get(side) for side in (pair.reference, pair.batched))
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
            differing = tuple(_apart(leaf.dtype, left, right))
            if differing:
                apart[number] = differing
    return Series(group, name, leaf.dtype, leaf.shape, _kind(leaf), tuple(texts), tuple(at), apart)


def _apart(dtype: str, left: Any, right: Any) -> Iterator[Apart]:
    for number, (one, two) in enumerate(zip(flat(left), flat(right), strict=True)):
        if bits_of(one, dtype) != bits_of(two, dtype):
            found = difference("", "", (number,), one, two, dtype)
            a, b = found.reference, found.batched
            yield Apart(number, a.decimal, b.decimal, (a.bits or "", b.bits or ""), found.ulp)


def flat(value: Any) -> Iterator[Any]:
    """The items of a nested list, row by row; a scalar is its one item."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    else:
        yield value


def _kind(leaf: Field) -> str:
    if leaf.shape:
        return "grid"
    return "flag" if leaf.is_bool else "line" if leaf.is_float else "steps"
