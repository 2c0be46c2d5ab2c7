"""The operators: each finds its places in a parsed twin and says what to write there instead.

Importing this package enters all of them into the registry. Where two of them come to the same text, the earlier counts.
"""

from __future__ import annotations

# isort: off  (the order of the operators)
from simulacrum.mutate.operators import entities, order, clock, classic  # noqa: F401
# isort: on
from simulacrum.mutate.operators.registry import OPERATORS, REWRITES, Operator

__all__ = ["OPERATORS", "REWRITES", "Operator"]
