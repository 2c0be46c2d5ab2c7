"""docs/file-formats.md names everything that the readers of spec.md and schema.json know."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulacrum.contract import declared, leaf, schema, spec
from simulacrum.contract.fields import ALLOWANCES, DISTRIBUTIONS, SPACES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "file-formats.md").read_text("utf-8")
KEYWORDS = schema._TOP | declared._DRAW | leaf._SHAPED | leaf._TOLERANCE | {"x-allow", "x-space", "x-nvec"}
ROWS = [" | ".join([heading, ", ".join(columns)]) for heading, columns in spec.TABLES.items()]


@pytest.mark.parametrize(
    "word",
    [*spec.HEADINGS, *ROWS, *sorted(KEYWORDS), *DISTRIBUTIONS, *SPACES, *ALLOWANCES, *schema._PARTS],
)
def test_names(word: str) -> None:
    assert word in PAGE
