"""The operators: each finds its places in a parsed twin and says what to write there instead.

Importing this package enters all of them into the registry. Where two of them come to the same text, the earlier one
counts: the particular kinds come before the classic ones.
"""

from __future__ import annotations

import importlib

from simulacrum.mutate.operators.registry import OPERATORS, REWRITES, Operator

MODULES = (
    "axes",
    "entities",
    "clock",
    "flags",
    "order",
    "restart",
    "draws",
    "numbers",
    "actions",
    "ends",
    "selections",
    "memory",
    "sums",
    "classic",
    "constants",
)

for _module in MODULES:
    importlib.import_module(f"{__name__}.{_module}")

# Beside this package, since what they enter is no fault.
for _module in ("rewrites", "spellings"):
    importlib.import_module(f"simulacrum.mutate.{_module}")

__all__ = ["MODULES", "OPERATORS", "REWRITES", "Operator"]
