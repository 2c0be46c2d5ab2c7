"""The page of messages says what the code says: each heading is a message that some file really holds."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from simulacrum.attest import gate


@pytest.fixture(scope="module")
def headings(root):
    text = (root / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    return re.findall(r"^### (.+)$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def sources(root):
    lint = root / "simulacrum" / "portable" / "ops.json"  # the reasons that findings of the lint give
    files = [root / "Makefile", lint, *sorted((root / "simulacrum").rglob("*.py"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    # One text with the literals that Python joins joined, and a make variable as its usual value.
    return re.sub(r'"\s*\n\s*f?"', "", text).replace("$(PYTHON)", "python3")


def fragments(heading):
    """The heading's fixed parts; `...` stands for what varies, a last word in parentheses for a status."""
    return [part.strip() for part in re.sub(r" \([a-z ]+\)$", "", heading).split("...") if part.strip()]


def test_each_heading_is_a_message_of_the_code(headings, sources):
    assert len(headings) > 15
    assert [line for line in headings if any(part not in sources for part in fragments(line))] == []


def test_an_invented_message_is_noticed(sources):
    assert fragments("slot ... was never heard of")[-1] not in sources


def test_each_state_of_a_closed_gate_has_a_heading(headings):
    told = {found[1] for line in headings if (found := re.search(r"as it stands \(([a-z ]+)\)$", line))}
    assert told == {status.replace("_", " ") for status in get_args(gate.Status) if status != "fresh"}
