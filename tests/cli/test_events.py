"""The JSON that programs get: every line of real runs against the schema of the events."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import simulacrum.cli
import simulacrum.trace
from simulacrum.cli import events
from simulacrum.cli.progress import Plan
from simulacrum.contract.package import load_package

QUICK = ("-k", "differential", "--quick", "--compile", "eager", "--json")
DOUBLE = ("count = state.count + 1", "count = state.count + 2")


def schema(module, name):
    value = json.loads((Path(module.__file__).parent / name).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(value)
    return value


SCHEMA = schema(simulacrum.cli, "events.schema.json")
STATED = jsonschema.Draft202012Validator(SCHEMA)
EXPLANATION = jsonschema.Draft202012Validator({"$ref": "#/$defs/explanation", "$defs": SCHEMA["$defs"]})
RECORD = jsonschema.Draft202012Validator(schema(simulacrum.trace, "divergence.schema.json"))


def lines_of(done):
    """The events, without those that only a slow machine sees."""
    found = [json.loads(line) for line in done.out.splitlines()]
    for event in found:
        STATED.validate(event)
    return [event for event in found if event["event"] != "progress"]


def test_a_run_that_passes(cli, counter):
    started, check, finished = lines_of(cli("validate", counter, *QUICK))
    assert (started["event"], started["version"]) == ("started", events.VERSION)
    assert (check["explanation"], check["divergence"]) == (None, None)
    assert {part["status"] for part in check["parts"].values()} <= {"passed", "skipped"}
    assert (finished["passed"], finished["failed"], finished["inconclusive"]) == (True, [], [])


def test_a_failure_carries_all_that_is_needed_to_mend_it(cli, counter, edit):
    edit(counter / "fast.py", *DOUBLE)
    _, check, finished = lines_of(cli("validate", counter, *QUICK))
    RECORD.validate(check["divergence"])
    told = check["explanation"]
    assert told["id"] == check["divergence"]["id"]
    assert told["rules"][0]["id"] == "R4"
    assert told["rules"][0]["line"] > 1
    (line,) = [line for line in told["sources"]["fast.py"] if DOUBLE[1] in line["text"]]
    assert (counter / "fast.py").read_text("utf-8").split("\n")[line["line"] - 1] == line["text"]
    assert any("count = state.count + 1" in line["text"] for line in told["sources"]["reference.py"])
    assert (told["first_value"]["name"], told["trace"]["fast.py"]["raised"]) == ("count", None)
    assert told["shrunk"] == check["divergence"]["shrunk"]
    assert told["commands"]["explain"].endswith(f"--env {counter}")
    assert finished["failed"] == ["differential"]


def test_explain_prints_the_same(cli, counter, edit):
    edit(counter / "fast.py", *DOUBLE)
    _, check, _ = lines_of(cli("validate", counter, *QUICK))
    done = cli("explain", check["divergence"]["files"]["record"], "--env", counter, "--json")
    told = json.loads(done.out)
    EXPLANATION.validate(told)
    assert told == check["explanation"]


def test_a_run_that_cannot_be_made(cli):
    (error,) = lines_of(cli("validate", "no_such_env", "--json"))
    assert (error["event"], error["kind"]) == ("error", "UnknownEnvError")


@pytest.mark.long
def test_an_inconclusive_run_is_named(cli, counter, edit):
    edit(counter / "reference.py", "# R4", "# R5, R4")
    edit(counter / "reference.py", "        count = state.count + 1", "        if state.count > 10**8:\n"
         "            pass  # R2\n        count = state.count + 1")  # fmt: skip
    edit(counter / "reference.py", "ctx.params.spread  # R2", "ctx.params.spread")
    # A quick run does not judge what never came up.
    _, check, finished = lines_of(
        cli("validate", counter, "-k", "differential.rollouts", "--compile", "eager", "--json")
    )
    assert check["status"] == "inconclusive", check["message"]
    assert finished["inconclusive"] == ["differential"]
    assert not finished["passed"]


def test_a_long_silence_is_broken(counter, capsys, monkeypatch):
    plan = Plan(load_package(counter), ("differential",), ("eager",), "cpu", quick=True, full=False)
    view = events.JsonView(plan)
    view.progress("differential", "1 rows", 1, 3)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(events, "QUIET", 0.0)
    view.progress("differential", "2 rows", 2, 3)
    told = json.loads(capsys.readouterr().out)
    STATED.validate(told)
    assert (told["event"], told["done"]) == ("progress", 2)


def test_a_failure_that_cannot_be_explained_still_comes_out(cli, counter, edit, monkeypatch):
    edit(counter / "fast.py", *DOUBLE)

    def broken(*_, **__):
        raise RuntimeError("out of luck")

    monkeypatch.setattr("simulacrum.harness.explain.explain", broken)
    done = cli("validate", counter, *QUICK)
    _, check, _ = lines_of(done)
    assert check["divergence"] is not None
    assert check["explanation"] is None
    assert "cannot be explained: out of luck" in done.err


@pytest.mark.parametrize(
    "event", [{"event": "check", "name": "x"}, {"event": "unknown"}, {"event": "progress", "name": 1}]
)
def test_the_schema_refuses_what_is_no_event(event):
    assert not STATED.is_valid(event)
