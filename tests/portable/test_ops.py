"""ops.json, the cases it was measured with, the table in the docs: one list, and still true here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import portable_coefficients
import portable_ops
import pytest
import torch
from portable_cases import CASES, make_inputs
from portable_rules import RULES

from simulacrum.portable.lint import operations

DATA: dict[str, Any] = json.loads(portable_ops.OPS.read_text(encoding="utf-8"))
ENTRIES: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in DATA["operations"]}


def test_the_list_is_that_of_the_cases_and_rules() -> None:
    assert list(ENTRIES) == [case.name for case in CASES] + [rule[0] for rule in RULES]
    for case in CASES:
        assert ENTRIES[case.name]["spelled"] == list(case.spelled)
        assert ENTRIES[case.name].get("needs", []) == list(case.needs)


def test_verdicts_follow_from_the_counts() -> None:
    for entry in ENTRIES.values():
        if entry["verdict"] == "portable":
            assert not any(entry["differing"].values())
        else:
            assert entry["reason"]
            assert entry["instead"]


def test_every_word_that_refuses_is_found_by_the_lint() -> None:
    table = operations()
    for entry in ENTRIES.values():
        for spelling in entry["spelled"]:
            assert spelling in (table.allowed if entry["verdict"] == "portable" else table.refused)


def test_the_table_in_the_docs_is_that_of_the_list() -> None:
    text = portable_ops.DOCS.read_text(encoding="utf-8")
    shown = text.split(portable_ops.BEGIN)[1].split(portable_ops.END)[0].strip()
    assert shown == portable_ops.table(DATA), "run: python tests/benchmarks/portable_ops.py --table"


@pytest.mark.parametrize("case", [c for c in CASES if ENTRIES[c.name]["verdict"] == "portable"], ids=lambda c: c.name)
def test_portable_operations_still_have_their_bits_here(case: Any) -> None:
    counts = portable_ops.measure_eager(case, make_inputs(portable_ops.ROWS, seed=1))
    assert not any(counts.values()), counts


def test_differences_are_counted_by_bits() -> None:
    first = torch.tensor([0.0, 1.0, float("nan"), 2.0])
    assert portable_ops.differing(first, np.array([-0.0, 1.0, np.nan, 3.0], dtype=np.float32)) == 2
    assert portable_ops.differing(first, first.double()) == 4
    assert portable_ops.differing(first, first[:3]) == 4


def test_coefficients_are_what_their_script_computes() -> None:
    content, _ = portable_coefficients.text()
    assert content == Path(portable_coefficients.TARGET).read_text(encoding="utf-8")
