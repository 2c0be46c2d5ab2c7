"""The divergence record: exact on paper, refused when changed, and readable at 80 columns."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from simulacrum.errors import TraceError
from simulacrum.trace import (
    Configuration,
    Counts,
    Divergence,
    RuleText,
    difference,
    dump_divergence,
    pair_draws,
    read_divergence,
    render_plain,
    render_rich,
    shown,
    ulp_between,
)
from simulacrum.trace.case import RESET, WAIT, Case, Line, Shrunk
from simulacrum.trace.divergence import Likely
from simulacrum.trace.kinds import KINDS, kind

RECORD = Divergence(
    check="differential",
    env_id="simulacrum/sample-v0",
    configuration=Configuration("inductor", "cpu", 17, "next_step", {"gust": 0.5}, 60, 1),
    seed=2**64 - 1,
    row=3,
    episode=1,
    t=17,
    step=54,
    difference=difference("state", "energy", (2, 0), np.float32(0.1), np.float32(0.10000002), "float32"),
    others=(
        difference("reward", "", (), 1.0, math.nan, "float32"),
        difference("terminated", "", (), True, False, "bool"),
    ),
    previous_state={"energy": 0.5, "berry_x": [1, 2, math.nan]},
    action=1,
    draws=pair_draws({"gust": [5], "fall": [1, None]}, {"gust": [6], "fall": [1, 2], "spare": [7]}),
    rule=RuleText("R7", "a berry that is eaten moves to a free cell of the row above, counted from the left"),
    counts=Counts(2, 17, 3, 1000),
    hints=("differs only when compiled",),
    files={"reference": "failures/a.reference.json"},
    command="simulacrum replay failures/a.json",
)
FACTS = (
    *(
        "differential",
        "simulacrum/sample-v0",
        "row 3",
        "18446744073709551615",
        "episode 1",
        "t=17",
        "step 54",
    ),
    *("inductor", "cpu", "N=17", "next_step", "gust=0.5", "max_episode_steps=60", "threads=1"),
    *("state.energy[2][0]", "float32", "0.1", "0x3dcccccd", "0.10000002", "0x3dcccccf", "2 ulp"),
    *(
        "R7",
        "eaten",
        "reward",
        "nan",
        "terminated",
        "berry_x",
        "00000005",
        "00000006",
        "differ",
        "only batched",
    ),
    *(
        "2 of 17 rows",
        "3 fields",
        "1000",
        "compiled",
        "failures/a.reference.json",
        "simulacrum replay failures/a.json",
    ),
)


def test_the_record_survives_json_exactly(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(dump_divergence(RECORD))
    back = read_divergence(path)
    assert back.to_json() == RECORD.to_json()
    assert back == replace(RECORD, previous_state=back.previous_state)
    assert back.previous_state == {"energy": 0.5, "berry_x": [1, 2, "nan"]}
    assert Divergence.from_json(json.loads(path.read_text())) == back


def test_the_id_follows_the_fault_and_not_its_files():
    assert replace(RECORD, files={}, command=None).id == RECORD.id
    assert replace(RECORD, t=18).id != RECORD.id
    other = difference("state", "energy", (2, 0), 0.1, np.float32(0.1000001), "float32")
    assert replace(RECORD, difference=other).id != RECORD.id


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body.update(row=4), "changed after it was written"),
        (lambda body: body.update(version=2), "not a divergence record"),
        (lambda body: body.update(format="x"), "not a divergence record"),
        (lambda body: body.pop("seed"), "'seed' is a required property"),
        (lambda body: body["difference"].update(ulp="two"), r"difference\.ulp"),
        (lambda body: body["draws"][0].update(reference=["0x5"]), r"draws\[0\]\.reference\[0\]"),
        (lambda body: body.update(mood=1), "mood"),
    ],
)
def test_a_record_that_was_changed(tmp_path, change, message):
    body = RECORD.to_json()
    change(body)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(body, indent=1))
    with pytest.raises(TraceError, match=message) as caught:
        read_divergence(path)
    assert caught.match(r"a\.json, line \d+")
    with pytest.raises(TraceError, match=message):
        Divergence.from_json(body)


def test_garbage_is_no_record(tmp_path):
    path = tmp_path / "a.json"
    for text in ("[]", "3", "{"):
        path.write_text(text)
        with pytest.raises(TraceError, match=r"not a divergence record|too early"):
            read_divergence(path)


@pytest.mark.parametrize("fact", FACTS)
def test_plain_and_coloured_say_everything(fact):
    console = Console(
        width=80, force_terminal=True, color_system="truecolor", record=True, file=open_nowhere()
    )
    console.print(render_rich(RECORD))
    assert fact in render_plain(RECORD)
    assert fact in " ".join(console.export_text().replace("│", " ").split()) or fact in console.export_text()


def open_nowhere():
    import io

    return io.StringIO()


def test_at_most_eighty_columns_and_no_escapes_in_plain():
    text = render_plain(RECORD)
    assert max(map(len, text.split("\n"))) <= 80
    assert "\x1b" not in text
    console = Console(width=80, file=open_nowhere(), force_terminal=True, color_system="truecolor")
    console.print(render_rich(RECORD))
    assert "\x1b" in console.file.getvalue()


def test_a_reset_has_no_action():
    reset = replace(RECORD, step=-1, t=0, action=None, previous_state=None, rule=None, counts=None, draws=())
    assert "the reset" in render_plain(reset)
    assert Divergence.from_json(reset.to_json()) == reset


@pytest.mark.parametrize(
    ("one", "two", "dtype", "distance"),
    [
        (1.0, float(np.nextafter(np.float32(1), np.float32(2))), "float32", 1),
        (1.0, math.nextafter(1.0, 2.0), "float64", 1),
        (0.0, -0.0, "float32", 1),
        (-1.0, 1.0, "float32", 2 * 0x3F800000 + 1),
        (math.inf, float(np.finfo(np.float32).max), "float32", 1),
        (math.nan, 1.0, "float32", None),
        (1, 2, "int32", None),
        (True, False, "bool", None),
    ],
)
def test_ulp(one, two, dtype, distance):
    assert ulp_between(shown(one, dtype), shown(two, dtype)) == distance
    assert ulp_between(shown(two, dtype), shown(one, dtype)) == distance


@pytest.mark.parametrize(
    ("value", "dtype", "decimal", "bits"),
    [
        (-1, "int8", "-1", "0xff"),
        (-1, "int64", "-1", "0xffffffffffffffff"),
        (True, "bool", "True", "0x01"),
        (-0.0, "float32", "-0.0", "0x80000000"),
        (0.1, "float64", "0.1", "0x3fb999999999999a"),
        (np.int32(5), "int32", "5", "0x00000005"),
        (2**32 - 1, "uint32", "4294967295", "0xffffffff"),
        ("text", "int32", "'text'", None),
        (1.5, "int32", "1.5", None),
    ],
)
def test_shown(value, dtype, decimal, bits):
    item = shown(value, dtype)
    assert (item.decimal, item.bits) == (decimal, bits)


def test_draw_verdicts():
    pairs = pair_draws({"a": [1, None], "b": [1], "c": [4]}, {"a": [1, 9], "b": [2], "d": [3], "e": [None]})
    assert {pair.slot: pair.verdict for pair in pairs} == {
        "a": "equal",
        "b": "differ",
        "c": "only reference",
        "d": "only batched",
        "e": "unused",
    }


SHRUNK = Shrunk(
    Case(
        "eager", "cpu", "next_step", 60, 2,
        (Line(1, 3, {"energy": "nan"}, 1, 4, True, {"gust": 0.5}, (1, RESET, {RESET: 5})),
         Line(0, 7, actions=(0, WAIT, WAIT))),
        "alone", {"gust": [1, 2]}, {"constants": {"SIZE": 3}},
    ),
    difference("state", "energy", (2, 0), np.float32(0.1), np.float32(0.2), "float32"), 1, True, 12, ("33 rows to 2",),
)  # fmt: skip
COMPLETE = replace(RECORD, shrunk=SHRUNK, diagnosis=(Likely("K02", "rows leak into each other", "row 1 needs row 0"),))


def test_what_is_made_of_a_failure_survives_json_and_leaves_its_name(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(dump_divergence(COMPLETE))
    back = read_divergence(path)
    assert back.shrunk == SHRUNK
    assert back.diagnosis == COMPLETE.diagnosis
    assert back.id == RECORD.id


def test_records_from_before_there_were_cases_are_read(tmp_path):
    path, body = tmp_path / "a.json", RECORD.to_json()
    del body["shrunk"], body["diagnosis"]
    path.write_text(json.dumps(body))
    assert read_divergence(path).shrunk is None


def test_the_smallest_case_and_the_likely_kinds_are_shown():
    console = Console(width=100, color_system=None, record=True, file=io.StringIO())
    console.print(render_rich(COMPLETE))
    for text in (render_plain(COMPLETE), console.export_text()):
        words = " ".join(text.split())
        assert "looks like K02 rows leak into each other: row 1 needs row 0" in words
        assert "row 1 of 2, from an injected state, 3 actions, eager, against the row alone" in words
    assert max(map(len, render_plain(COMPLETE).splitlines())) <= 80


def test_every_kind_has_a_title_of_its_own():
    assert [kind.number for kind in KINDS] == [f"K{number:02}" for number in range(1, 25)]
    assert len({kind.title for kind in KINDS}) == len({kind.look for kind in KINDS}) == 24
    assert kind("K07").title == "terminated and truncated confused"
