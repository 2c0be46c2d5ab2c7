"""`simulacrum doctor`: every finding has a mend, and each thing that can be wrong is found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from simulacrum.cli.advice import findings
from simulacrum.cli.health import EXTRAS
from simulacrum.cli.listing import Listed


def sound():
    folder = {"path": "/x", "exists": True, "writable": True, "executable": True}
    return {
        "versions": {"torch": "2", **dict.fromkeys(EXTRAS, "1")},
        "machine": {"cores": 4, "load": 0.1},
        "torch": {"error": None, "devices": ["cpu"], "cpu_capability": "AVX2", "threads": 1, "variables": {}},
        "native": {"compiler": "clang of ziglang 1", "processor": "one", "chosen": None},
        "compiler": {"path": "/usr/bin/g++", "version": "g++ 12", "python_headers": True, "include": "/i"},
        "folders": {"compiled code": dict(folder), "state": dict(folder)},
    }


def env(gate="fresh", validated=("eager on cpu", "native on cpu")):
    return Listed("lab/x-v0", "x", gate, ["because"], list(validated), "/x", "built-in", "simulacrum validate x")


def test_sound_machine_has_no_findings():
    assert findings(sound(), [env()]) == []


@pytest.mark.parametrize(
    ("part", "change", "level", "topic"),
    [
        ("torch", {"error": "ImportError: gone", "cpu_capability": None}, "problem", "torch"),
        ("torch", {"cpu_capability": "DEFAULT"}, "slow", "processor"),
        ("torch", {"threads": 2}, "slow", "threads"),
        ("torch", {"threads": 9}, "slow", "threads"),
        ("machine", {"load": 7.0}, "note", "load"),
        ("versions", {"pillow": None}, "note", "extras"),
        ("native", {"compiler": None}, "slow", "native form"),
        ("native", {"compiler": None, "chosen": "mycc"}, "problem", "native form"),
        ("compiler", {"path": None}, "note", "compiler"),
        ("compiler", {"version": None}, "problem", "compiler"),
        ("compiler", {"python_headers": False}, "problem", "compiler"),
    ],
)
def test_finding(part, change, level, topic):
    facts = sound()
    facts[part] |= change
    (found,) = findings(facts, [env()])
    assert (found.level, found.topic) == (level, topic)
    assert found.mend


@pytest.mark.parametrize(
    ("folder", "change", "level"),
    [
        ("compiled code", {"writable": False}, "problem"),
        ("compiled code", {"executable": False}, "problem"),
        ("state", {"writable": False}, "note"),
    ],
)
def test_folders(folder, change, level):
    facts = sound()
    facts["folders"][folder] |= change
    (found,) = findings(facts, [env()])
    assert found.level == level


@pytest.mark.parametrize(
    ("gate", "level"),
    [("broken", "problem"), ("failing", "problem"), ("damaged", "problem"), ("stale", "note"), ("missing", "note")],
)
def test_environments(gate, level):
    (found,) = findings(sound(), [env(gate)])
    assert (found.level, found.mend) == (level, "simulacrum validate x")


def test_eager_only_report_is_told():
    (found,) = findings(sound(), [env(validated=["eager on cpu"])])
    assert (found.level, found.mend) == ("slow", "simulacrum validate x")


def test_why_there_is_no_native_form_is_told():
    one = env(validated=["eager on cpu", "inductor on cpu"])
    (found,) = findings(sound(), [replace(one, unbuilt="sum: a float sum (fast.py:3)")])
    assert found.level == "slow"
    assert "a float sum (fast.py:3)" in found.text


def test_text_and_json_say_the_same(cli, counter):
    (counter / "spec.md").write_text("# nothing\n")
    text, document = cli("doctor", counter), cli("doctor", counter, "--json")
    assert text.code == document.code == 1
    told = json.loads(document.out)
    assert told["version"] == 1
    assert told["healthy"] is False
    broken = next(finding for finding in told["findings"] if finding["topic"] == "counter")
    assert broken["level"] == "problem"
    assert broken["text"] in text.out
    assert told["versions"]["torch"] in text.out
