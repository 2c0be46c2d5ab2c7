"""`simulacrum new`: a template environment that itself passes the battery."""

from __future__ import annotations

from simulacrum.scaffold.new import CHECKLIST, Written, write_package

__all__ = ["CHECKLIST", "Written", "write_package"]
