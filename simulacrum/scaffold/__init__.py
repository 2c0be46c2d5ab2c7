"""`simulacrum new`: a template environment that itself passes the battery, or a package around a foreign program."""

from __future__ import annotations

from simulacrum.scaffold.new import CHECKLIST, Written, write_package
from simulacrum.scaffold.origin import ORIGINS, Imported, write_from

__all__ = ["CHECKLIST", "ORIGINS", "Imported", "Written", "write_from", "write_package"]
