"""Metamorphic relations M1 to M18: truths between runs of the batched twin, each a sub-check of a check.

The survey of Chen and others (ACM Computing Surveys 51, 2018, doi 10.1145/3143561) describes the method. All
comparisons are of bits.
"""

from __future__ import annotations
