"""The vectorisation cookbook: what it shows is what its package holds, and that package is right as it stands."""

from __future__ import annotations

import re
import textwrap

import pytest

from simulacrum.contract.package import load_package
from simulacrum.harness.battery import run_battery

# Fenced with a file's name: ```py title="fast.py"
SHOWN = re.compile(r'^```py title="(?P<file>[\w.]+)"\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def orchard(root):
    return root / "docs" / "examples" / "orchard"


def strangers(page: str, texts: dict[str, str]) -> list[str]:
    """The shown fragments that are not in the file that they name, whatever their indentation there."""
    found = []
    for shown in SHOWN.finditer(page):
        lines = [line.strip() for line in textwrap.dedent(shown["code"]).strip().splitlines()]
        whole = [line.strip() for line in texts[shown["file"]].splitlines()]
        places = range(len(whole) - len(lines) + 1)
        if not any(whole[at : at + len(lines)] == lines for at in places):
            found.append(shown["code"])
    return found


def test_fragments_are_lines_of_the_package(root, orchard):
    page = (root / "docs" / "cookbook.md").read_text(encoding="utf-8")
    texts = {name: (orchard / name).read_text(encoding="utf-8") for name in ("reference.py", "fast.py")}
    assert len(SHOWN.findall(page)) > 20
    assert strangers(page, texts) == []


def test_a_fragment_that_is_no_longer_there_is_found():
    page = 'x\n```py title="fast.py"\na = 1\nb = 2\n```\n'
    assert strangers(page, {"fast.py": "def f():\n    a = 1\n    b = 2\n"}) == []
    assert strangers(page, {"fast.py": "a = 1\nc = 3\nb = 2\n"}) == ["a = 1\nb = 2\n"]


def test_the_package_without_a_mistake_passes(orchard):
    """Else what the page plants would be caught for another reason."""
    result = run_battery(load_package(orchard), checks=["spec_contract", "differential"], forms=[], quick=True)
    assert result.passed, {name: outcome.message for name, outcome in result.outcomes.items()}
