"""Strict JSON, line numbers, and files that are whole or not there."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulacrum.errors import TraceError
from simulacrum.trace import jsonio
from simulacrum.trace.jsonio import BadValue, dotted, line_of, load_document, parse, pretty, write_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def places(value, path=()):
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from places(item, (*path, key))


@given(JSON)
def test_pretty_is_the_same_value_and_every_line_is_found(value):
    text = pretty(value)
    assert json.loads(text) == value
    lines = text.split("\n")
    for path in places(value):
        item = value
        for key in path:
            item = item[key]
        start = json.dumps(item)[0]
        assert start in lines[line_of(text, path) - 1]


def test_line_of_names_the_right_line():
    text = '{\n "a": {"b": [1,\n 2,\n {"c": "]}"}]},\n "d": 3\n}'
    assert line_of(text, ("a", "b", 1)) == 3
    assert line_of(text, ("a", "b", 2, "c")) == 4
    assert line_of(text, ("d",)) == 5
    assert line_of(text, ("a", "nowhere")) == 2
    assert line_of("[1, ", (5,)) is None


@pytest.mark.parametrize("text", ['{"a": NaN}', "[Infinity]", "-Infinity", '{"a": 1, "a": 2}'])
def test_what_other_readers_would_read_otherwise_is_refused(text):
    with pytest.raises(BadValue, match=r"not JSON|stands twice"):
        parse(text)


def test_deep_nesting_is_an_error_and_not_a_crash(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    with pytest.raises(TraceError, match=r"nested too deeply|too early"):
        load_document(path)


def test_dotted():
    assert dotted(("steps", 3, "state", "x", 0)) == "steps[3].state.x[0]"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": ', "ends too early"),
        (b'{"a": x}', "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"", "too early"),
    ],
)
def test_unreadable_documents(tmp_path, data, message):
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=message) as caught:
        load_document(path)
    assert str(path) in str(caught.value)
    with pytest.raises(TraceError, match="cannot be read"):
        load_document(tmp_path / "missing.json")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "file.json"
    write_bytes(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jsonio.os, "fsync", full)
    with pytest.raises(TraceError, match="cannot be written") as caught:
        write_bytes(path, b"new")
    assert "No space left" in str(caught.value)
    assert "next:" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["file.json"]


def interrupted_write(path):
    with jsonio.whole_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_an_interrupted_write_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(tmp_path / "a.json")
    assert os.listdir(tmp_path) == []


def test_a_folder_in_the_way_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(TraceError, match="cannot be written"):
        write_bytes(tmp_path / "file" / "below.json", b"x")
