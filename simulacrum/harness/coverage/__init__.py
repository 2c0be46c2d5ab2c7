"""Which rules, branches, conditions and draws of `reference.py` a run exercises, and which rules in `fast.py`.

    coverage = Coverage(package)
    with coverage.watching():
        ...                         # anything that steps the package's twins, here or deep inside
    coverage.missing                # what never came up: file, line, rule
"""

from simulacrum.harness.coverage.judge import Coverage, Gap

__all__ = ["Coverage", "Gap"]
