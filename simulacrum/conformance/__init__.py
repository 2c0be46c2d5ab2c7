"""Checks anybody's Gymnasium vector environment against the contract, rule by rule.

    simulacrum check-vec my_package:Env-v0                     from the command line
    class TestMine(VectorEnvConformance): ...                  from pytest
    for result in check(subject_of("my_package:Env-v0")): ...  from Python

It needs Gymnasium and NumPy and nothing else of simulacrum: neither its engine nor torch, unless the environment gives
tensors.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulacrum.conformance.catalog import RULES
    from simulacrum.conformance.rule import Result, Rule
    from simulacrum.conformance.runner import check
    from simulacrum.conformance.subject import Subject
    from simulacrum.conformance.suite import VectorEnvConformance
    from simulacrum.conformance.target import subject_of

__all__ = ["RULES", "Result", "Rule", "Subject", "VectorEnvConformance", "check", "subject_of"]

_HOMES = {
    "RULES": "catalog",
    "Result": "rule",
    "Rule": "rule",
    "Subject": "subject",
    "VectorEnvConformance": "suite",
    "check": "runner",
    "subject_of": "target",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
