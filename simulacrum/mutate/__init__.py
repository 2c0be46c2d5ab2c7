"""Faults planted on purpose in a twin, and rewrites that change nothing: what a battery's strength is measured with."""

from __future__ import annotations

from simulacrum.mutate.mutant import Mutant, mutants, rewrites

__all__ = ["Mutant", "mutants", "rewrites"]
