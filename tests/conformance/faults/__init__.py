"""One fault for each rule: the smallest change to a right environment that the rule is there to catch."""

from __future__ import annotations

from conformance.faults import episodes, infos, memory, seeds, words
from conformance.faults.base import FAULTS
from conformance.faults.rebuilt import REGISTERED

__all__ = ["FAULTS", "REGISTERED", "episodes", "infos", "memory", "seeds", "words"]
