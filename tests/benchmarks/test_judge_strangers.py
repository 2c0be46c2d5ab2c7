"""The page of findings: its tables are those of the rules and of the results that are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from suite import findings, venvs
from suite.strangers import STRANGERS

from simulacrum.conformance.catalog import RULES

ROOT = Path(__file__).parents[2]
PAGE, RAW = ROOT / "docs" / "conformance.md", ROOT / "docs" / "assets" / "conformance.json"
RESULT = {"rule": "close.twice", "severity": "error", "status": "failed", "message": "no | __init__",
          "step": None, "row": 2, "field": "x[0][1]", "found": None, "expected": None}  # fmt: skip
RUN = {"title": "Some env", "library": "gymnasium", "command": "simulacrum check-vec Some-v0", "class": "Some",
       "mode": "NEXT_STEP", "versions": {"gymnasium": "1", "numpy": "2"}, "results": [RESULT]}  # fmt: skip


def test_page_holds_every_rule():
    table = PAGE.read_text(encoding="utf-8").partition("<!-- rules: begin -->")[2].partition("<!-- rules: end -->")[0]
    found = re.findall(r"^\| `([\w.]+)` \| (error|warning) \| ", table, re.MULTILINE)
    assert [tuple(one) for one in found] == [(rule.name, rule.severity) for rule in RULES.values()]


def test_page_is_made_from_the_kept_results(tmp_path):
    runs = json.loads(RAW.read_text(encoding="utf-8"))
    assert {one["title"] for one in runs} == {one.title for one in STRANGERS}
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    findings.write_page(copy, runs)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_ours_hold_every_rule():
    for one in json.loads(RAW.read_text(encoding="utf-8")):
        if one["library"] == "simulacrum":
            assert [r["rule"] for r in one["results"] if r["status"] == "failed"] == [], one["title"]


def test_finding_has_its_place_and_its_command():
    told = findings.findings([RUN, {"title": "Gone", "missing": "not set up"}])
    assert "| Some env | `Some` | NEXT_STEP | gymnasium 1 | 0 | 1 | 0 | 0 |" in told
    assert "| Gone | not installed |" in told
    assert "simulacrum check-vec Some-v0" in told
    assert "| `close.twice` | **error** | no \\| \\_\\_init\\_\\_ (row 2, field x[0]\\[1]) |" in told


def test_notes_are_about_rules_that_there_are():
    names = {key if isinstance(key, str) else key[1] for key in findings.NOTES}
    assert names <= set(RULES)
    libraries = {key[0] for key in findings.NOTES if not isinstance(key, str)}
    assert libraries <= {one.library for one in STRANGERS}


def test_libraries_have_pins():
    assert {one.venv for one in STRANGERS if one.venv} <= {*venvs.PINS, *venvs.STRANGERS}
    assert all("==" in pin for pins in venvs.STRANGERS.values() for pin in pins)


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda one: one.title)
def test_command_names_its_target(stranger):
    assert stranger.command.startswith(f"simulacrum check-vec {stranger.target}")
