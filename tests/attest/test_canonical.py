"""The canonical form: one text for one content, whoever prints it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulacrum.attest.canonical import canonical, plain, seal_of
from simulacrum.errors import ReportError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_known_text() -> None:
    value = {"b": [1, True, None], "a": {"x": 0.1, "é": "ü"}}
    expected = b'{"a":{"x":"float:0x1.999999999999ap-4","\\u00e9":"\\u00fc"},"b":[1,true,null]}'
    assert canonical(value) == expected


@given(json_values)
def test_order_of_keys_does_not_matter_and_content_does(value: Any) -> None:
    body = {"one": value, "two": [value]}
    assert seal_of(body) == seal_of(dict(reversed(body.items())))
    assert seal_of(body) == seal_of({**body, "seal": "whatever"})
    assert seal_of(body) != seal_of({**body, "three": value})


def test_floats_that_print_alike_or_compare_alike_differ() -> None:
    values = [0.0, -0.0, 0, 0.1, 0.1 + 2**-56, 1, 1.0, True]
    assert len({canonical(value) for value in values}) == len(values)


def test_plain_turns_what_json_lacks_into_text_and_lists() -> None:
    given = {1: (math.nan, math.inf, -math.inf), "ok": [True, 2, "x", None, 1.5]}
    assert plain(given, "evidence") == {"1": ["nan", "inf", "-inf"], "ok": [True, 2, "x", None, 1.5]}


def test_plain_names_the_place_of_a_foreign_value() -> None:
    with pytest.raises(ReportError, match=r"(?s)holds JSON values only.*set.*report\.checks\[1\]\.x"):
        plain({"checks": [0, {"x": {1, 2}}]}, "report")
