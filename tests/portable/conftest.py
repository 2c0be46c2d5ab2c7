"""The helpers of these tests: `portable_inputs` beside them, and the measuring scripts in
tests/benchmarks."""

from __future__ import annotations

import sys
from pathlib import Path

# With import-mode=importlib neither folder is on the path by itself.
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "benchmarks")]
