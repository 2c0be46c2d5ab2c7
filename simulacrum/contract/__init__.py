"""WHAT an environment says it is: spec.md, schema.json, their folder and its digest. No torch in here.

`spaces` (which needs Gymnasium), `agreement` and `digest` are imported from their own modules.
"""

from __future__ import annotations

from simulacrum.contract.fields import Draw, Field, Group, Param, Tolerance
from simulacrum.contract.package import BrokenPackage, EnvPackage, find_packages, load_package, packages_at
from simulacrum.contract.schema import Schema, load_schema, parse_schema
from simulacrum.contract.spec import Rule, Spec, load_spec, parse_spec

__all__ = [
    "BrokenPackage",
    "Draw",
    "EnvPackage",
    "Field",
    "Group",
    "Param",
    "Rule",
    "Schema",
    "Spec",
    "Tolerance",
    "find_packages",
    "load_package",
    "load_schema",
    "load_spec",
    "packages_at",
    "parse_schema",
    "parse_spec",
]
