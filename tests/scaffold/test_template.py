"""The template passes the battery before anybody edits it."""

from __future__ import annotations

import pytest

from simulacrum.attest.catalog import CHECK_NAMES
from simulacrum.attest.gate import gate_state, wanted_configuration
from simulacrum.contract.package import load_package
from simulacrum.engine.forms import cpp_compiler
from simulacrum.harness.battery import run_battery
from simulacrum.scaffold import write_package


@pytest.mark.slow
def test_template_passes_every_check_and_opens_its_gate(tmp_path):
    package = load_package(write_package("two_doors", tmp_path).folder)
    forms = ("eager", "inductor") if cpp_compiler() else ("eager",)
    result = run_battery(package, forms=forms, failures=tmp_path / "failures")
    told = {name: (outcome.status, outcome.message) for name, outcome in result.outcomes.items()}
    assert tuple(told) == CHECK_NAMES
    assert {status for status, _ in told.values()} == {"passed"}, told
    assert gate_state(package, wanted_configuration(compile=forms[-1])).fresh
