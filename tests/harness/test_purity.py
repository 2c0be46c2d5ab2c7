"""A state that may hold NaN is no false alarm: NaN is compared by what it is, not by `==`."""

from __future__ import annotations

import shutil

import pytest

from simulacrum.contract.package import load_package
from simulacrum.harness.bench import Bench
from simulacrum.harness.canaries import HOME
from simulacrum.harness.purity import impurities
from simulacrum.harness.running import run_check

EDITS = (
    ("spec.md", "| place | int32 | [] | 0 | 9 | where it sits |\n",
     "| place | int32 | [] | 0 | 9 | where it sits |\n| tune | float32 | [] | - | - | NaN after a push, or 0.0 |\n"),
    ("schema.json", '"required": ["place"]', '"required": ["place", "tune"]'),
    ("schema.json", '"description": "where it sits"}',
     '"description": "where it sits"},\n"tune": {"type": "number", "x-dtype": "float32", "x-shape": [],'
     ' "x-allow": ["nan"], "description": "NaN after a push, or 0.0"}'),
    ("reference.py", '"start", 3)', '"start", 3), tune=Float32(0.0)'),
    ("reference.py", "state.replace(place=place)",
     'state.replace(place=place, tune=Float32("nan") if pushed else Float32(0.0))'),
    ("fast.py", "State(place=place)", "State(place=place, tune=torch.zeros_like(place, dtype=torch.float32))"),
    ("fast.py", "state.replace(place=place)",
     'state.replace(place=place, tune=torch.where(pushed, float("nan"), torch.zeros_like(state.tune)))'),
)  # fmt: skip


@pytest.fixture
def tuned(tmp_path):
    folder = tmp_path / "canary"
    shutil.copytree(HOME, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in EDITS:
        text = (folder / name).read_text("utf-8")
        assert text.count(old) == 1, (name, old)
        (folder / name).write_text(text.replace(old, new), "utf-8")
    return load_package(folder)


def test_a_state_of_nan_is_pure(tuned, tmp_path):
    assert impurities(Bench(tuned, forms=("eager",), failures=tmp_path)) == []


def test_a_state_of_nan_stays_where_an_action_was_refused(tuned, tmp_path):
    asked = frozenset({"differential.illegal_actions"})
    bench = Bench(tuned, forms=("eager",), quick=True, failures=tmp_path, asked=asked)
    outcome, _ = run_check(bench, "differential")
    assert outcome.status == "passed", outcome.message
