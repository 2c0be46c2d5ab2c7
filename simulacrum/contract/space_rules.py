"""The Gymnasium space that a leaf of action or observation names, held against dtype, shape and bounds."""

from __future__ import annotations

from typing import cast

from simulacrum.contract.bounds import parse_nested
from simulacrum.contract.fields import SPACES, Bound, elements
from simulacrum.contract.node import Node, show

NEEDS_SPACE = ("action", "observation")


def parse_space(
    node: Node, part: str, dtype: str, shape: tuple[int, ...]
) -> tuple[str | None, tuple[Bound, ...] | None]:
    """(space, `x-nvec`), None where there is none. SchemaError where dtype, shape or keywords are not the space's."""
    if part not in NEEDS_SPACE:
        return None, None
    given = node.need("x-space", "leaves of action and observation name their Gymnasium space")
    space = given.one_of(SPACES, "Gymnasium space that simulacrum knows")
    rules: dict[str, tuple[str, bool, str]] = {
        "Discrete": ("int64", not shape, "a scalar (x-shape [])"),
        "MultiDiscrete": ("int64", bool(shape), "an array"),
        "MultiBinary": ("int8", bool(shape), "an array"),
    }
    if space == "Dict":
        given.fail(
            "Dict is the space of an object, not of a tensor",
            expected="type object",
            found=space,
            mend='write {"type": "object", "x-space": "Dict", "properties": {...}}',
        )
    if space in rules:
        wanted, shape_fits, shape_text = rules[space]
        if dtype != wanted:
            node.child("x-dtype").fail(
                f"{space} has the dtype {wanted}", expected=wanted, found=dtype, mend="change it"
            )
        if not shape_fits:
            node.child("x-shape").fail(
                f"{space} is {shape_text}", expected=shape_text, found=list(shape), mend="mend it"
            )
    elif dtype == "bool":
        node.child("x-dtype").fail(
            "a Box holds numbers",
            expected="a numeric dtype",
            found=dtype,
            mend="use MultiBinary with int8 for switches",
        )
    nvec = node.get("x-nvec")
    if space != "MultiDiscrete":
        if nvec:
            nvec.fail("x-nvec belongs to MultiDiscrete", found=space, mend="remove it")
        return space, None
    counts = node.need("x-nvec", "MultiDiscrete says how many values each element has")
    return space, cast("tuple[Bound, ...]", parse_nested(counts, dtype, shape, 0.0))


def space_bounds(
    node: Node,
    inner: Node,
    space: str,
    dtype: str,
    given: tuple[Bound, Bound],
    nvec: tuple[Bound, ...] | None,
) -> tuple[Bound, Bound]:
    """Bounds as the space has them; what the author wrote must not say otherwise."""
    if space == "Discrete":
        if given[0] is None or given[1] is None:
            inner.fail(
                "Discrete needs minimum and maximum",
                expected="both",
                found=sorted(inner.value),
                mend="add the one that is missing; they are the first and the last action",
            )
        return given
    if space == "MultiBinary":
        return _fixed(node, given, (0, 1), space)
    if space == "MultiDiscrete":
        assert nvec is not None
        if any(count < 1 for count in elements(nvec)):
            node.child("x-nvec").fail(
                "every entry of x-nvec is at least 1",
                expected=">= 1",
                found=show(node.value["x-nvec"]),
                mend="mend the entry",
            )
        most = max(int(count) for count in elements(nvec)) - 1
        _fixed(node, given, (0, most), space)
        return 0, _minus_one(nvec)
    return given


def _fixed(node: Node, given: tuple[Bound, Bound], wanted: tuple[int, int], space: str) -> tuple[int, int]:
    for keyword, have, want in zip(("minimum", "maximum"), given, wanted, strict=True):
        if have is not None and have != want:
            node.fail(
                f"{keyword} contradicts the space {space}", expected=want, found=have, mend=f"write {want}"
            )
    return wanted


def _minus_one(nvec: Bound) -> Bound:
    return tuple(_minus_one(part) for part in nvec) if isinstance(nvec, tuple) else int(cast(int, nvec)) - 1
