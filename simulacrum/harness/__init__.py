"""The battery: runs the checks of the catalogue on a package and writes its report.

The gate is handed on from here for training scripts; importing this room for it loads neither torch nor pytest.
"""

from simulacrum.attest.gate import require_fresh_report

__all__ = ["require_fresh_report"]
