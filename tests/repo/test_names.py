"""A list of names is kept once: each place that repeats the checks' names is held against the catalogue."""

from __future__ import annotations

import json
import re

from simulacrum.attest.catalog import CHECK_NAMES, CHECKS, OPTIONAL, OPTIONAL_NAMES

DOCUMENTED = (*CHECK_NAMES, *OPTIONAL_NAMES)


def test_check_is_a_file(root):
    files = {path.stem for path in (root / "simulacrum" / "harness" / "checks").glob("*.py")}
    assert {name for name in files if not name.startswith("_")} == set(CHECK_NAMES)


def test_check_is_a_heading_of_the_docs(root):
    text = (root / "docs" / "checks.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^## `(\w+)`$", text, re.MULTILINE)) == DOCUMENTED


def test_docs_say_of_each_check_what_the_catalogue_says(root):
    text = (root / "docs" / "checks.md").read_text(encoding="utf-8")
    sections = dict(zip(DOCUMENTED, re.split(r"^## .+$", text, flags=re.MULTILINE)[-len(DOCUMENTED) :], strict=True))
    for check in (*CHECKS, *OPTIONAL):
        said = " ".join(sections[check.name].split())
        assert f"**A pass proves:** {check.claim}." in said, check.name
        assert f"**It cannot see:** {check.blind_spot}." in said, check.name


def test_report_takes_its_keys_from_the_catalogue(root):
    # The reader puts CHECK_NAMES in; names typed into the schema would be a second list.
    path = root / "simulacrum" / "attest" / "report.schema.json"
    checks = json.loads(path.read_text(encoding="utf-8"))["properties"]["checks"]
    assert not [name for name in DOCUMENTED if name in json.dumps(checks)]
    reader = (root / "simulacrum" / "attest" / "report.py").read_text(encoding="utf-8")
    assert "[*CHECK_NAMES, *OPTIONAL_NAMES]" in reader


def test_check_has_a_test_of_its_own_name(root):
    tests = {path.stem for path in (root / "tests" / "harness").rglob("test_*.py")}
    assert {f"test_{name}" for name in CHECK_NAMES} <= tests


def test_no_script_hides_a_package_of_the_tests(root):
    """Folders of scripts come onto the path before `tests/`, in whatever order their tests are collected."""
    packages = {path.parent.name for path in (root / "tests").glob("*/__init__.py")}
    folders = ("tests/benchmarks", "tests/portable", "tests/ports", "tools")
    scripts = {path.stem: path for folder in folders for path in (root / folder).glob("*.py")}
    assert "conformance" in packages
    assert [scripts[name] for name in packages & set(scripts)] == []
