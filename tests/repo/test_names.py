"""A list of names is kept once: each place that repeats the checks' names is held against the catalogue."""

from __future__ import annotations

import json
import re

from simulacrum.attest.catalog import CHECK_NAMES


def test_check_is_a_file(root):
    files = {path.stem for path in (root / "simulacrum" / "harness" / "checks").glob("*.py")}
    assert {name for name in files if not name.startswith("_")} == set(CHECK_NAMES)


def test_check_is_a_heading_of_the_docs(root):
    text = (root / "docs" / "checks.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^## `(\w+)`$", text, re.MULTILINE)) == CHECK_NAMES


def test_check_is_a_key_of_the_report(root):
    # The report's schema takes its keys from the catalogue; a list of its own would be a second place.
    schema = (root / "simulacrum" / "attest" / "report.schema.json").read_text(encoding="utf-8")
    json.loads(schema)
    assert [name for name in CHECK_NAMES if f'"{name}"' in schema] == []


def test_check_has_a_test_of_its_own_name(root):
    tests = {path.stem for path in (root / "tests" / "harness").rglob("test_*.py")}
    assert {f"test_{name}" for name in CHECK_NAMES} <= tests
