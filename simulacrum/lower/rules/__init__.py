"""What each ATen operation means for one row. Importing this package fills the table `RULES`."""

from simulacrum.lower.rules import choice, elementwise, indexing, items, making, shape
from simulacrum.lower.rules.call import RULES, Call

__all__ = ["RULES", "Call", "choice", "elementwise", "indexing", "items", "making", "shape"]
