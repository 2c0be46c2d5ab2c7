"""Certificate and doorkeeper: the checks' names, the report of a validation, the gate that asks for it."""

from simulacrum.attest.catalog import CHECK_NAMES, CHECKS, CheckInfo
from simulacrum.attest.gate import (
    GateState,
    GateWarning,
    gate_state,
    require_fresh_report,
    wanted_configuration,
)
from simulacrum.attest.record import CheckResult, Configuration, Report
from simulacrum.attest.report import read_report, write_report

__all__ = [
    "CHECKS",
    "CHECK_NAMES",
    "CheckInfo",
    "CheckResult",
    "Configuration",
    "GateState",
    "GateWarning",
    "Report",
    "gate_state",
    "read_report",
    "require_fresh_report",
    "wanted_configuration",
    "write_report",
]
