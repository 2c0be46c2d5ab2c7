"""What a training run writes down about its environment, and what it is held to when it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import simulacrum
from simulacrum.attest.gate import GateState, require_fresh_report
from simulacrum.attest.record import Report
from simulacrum.attest.report import write_report
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import ProvenanceError, UsageError

MakeReport = Callable[..., Report]


@pytest.fixture
def state(package: EnvPackage, make_report: MakeReport) -> GateState:
    write_report(package, make_report())
    return require_fresh_report(package)


def changed(state: GateState, **parts: Any) -> GateState:
    assert state.report is not None
    return replace(state, report=replace(state.report, **parts))


def test_it_names_the_report_and_all_that_was_judged(state: GateState) -> None:
    recorded = simulacrum.provenance(state)
    assert state.report is not None
    assert recorded["digest"] == state.report.whole
    assert recorded["seal"] == state.report.seal
    assert "envs/toywalk/fast.py" in recorded["subjects"]
    assert json.loads(json.dumps(recorded)) == recorded


def test_the_same_environment_goes_on(state: GateState) -> None:
    simulacrum.require_same_env(simulacrum.provenance(state), state)


def test_a_changed_file_is_named(state: GateState) -> None:
    recorded = simulacrum.provenance(state)
    assert state.report is not None
    later = changed(state, subjects={**state.report.subjects, "envs/toywalk/fast.py": "0" * 64}, whole="1" * 64)
    with pytest.raises(ProvenanceError, match=r"envs/toywalk/fast\.py changed(.|\n)*found: digest 111111111111"):
        simulacrum.require_same_env(recorded, later, where="runs/one")


def test_another_version_is_named(state: GateState) -> None:
    recorded = simulacrum.provenance(state)
    assert state.report is not None
    later = changed(state, environment={**state.report.environment, "torch": "9.9"})
    with pytest.raises(ProvenanceError, match=r"torch .* -> 9\.9"):
        simulacrum.require_same_env(recorded, later)


def test_rooms_that_only_judge_may_change(state: GateState) -> None:
    assert state.report is not None
    recorded = simulacrum.provenance(state)
    name = next(name for name in state.report.subjects if name.startswith("simulacrum/harness/"))
    simulacrum.require_same_env(recorded, changed(state, subjects={**state.report.subjects, name: "0" * 64}))
    engine = next(name for name in state.report.subjects if name.startswith("simulacrum/engine/"))
    with pytest.raises(ProvenanceError, match=engine):
        simulacrum.require_same_env(recorded, changed(state, subjects={**state.report.subjects, engine: "0" * 64}))


def test_a_module_that_only_one_process_had_loaded_is_no_change(state: GateState) -> None:
    assert state.report is not None
    recorded = simulacrum.provenance(state)
    more = {**state.report.subjects, "mylib/rules.py": "0" * 64}
    simulacrum.require_same_env(recorded, changed(state, subjects=more))


def test_another_id_is_refused(state: GateState) -> None:
    recorded = {**simulacrum.provenance(state), "env_id": "simulacrum/forager-v0"}
    with pytest.raises(ProvenanceError, match="made with another environment"):
        simulacrum.require_same_env(recorded, state)


@pytest.mark.parametrize("recorded", [{}, {"env_id": "simulacrum/toywalk-v0", "subjects": 3, "environment": {}}])
def test_what_says_nothing_is_refused(state: GateState, recorded: dict[str, Any]) -> None:
    with pytest.raises(ProvenanceError, match="does not say"):
        simulacrum.require_same_env(recorded, state)


def test_a_closed_gate_has_nothing_to_write_down(package: EnvPackage) -> None:
    with pytest.warns(UserWarning, match="toywalk"):
        closed = require_fresh_report(package, strict=False)
    with pytest.raises(UsageError, match="no report that speaks"):
        simulacrum.provenance(closed)
