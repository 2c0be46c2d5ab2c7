"""`mutants.json` of a package: mutants that change nothing anybody can see, each with the reason in writing.

    {"version": 1, "mutants": {"1f0c9a7e": {"before": "x >= 1", "after": "x > 0", "reason": "x is an integer"}}}

A reason stands only for the very change it names, and for its doses: what changes nothing changes nothing now and then
either. It stands only beside evidence: the small model, enumerated completely, shows no difference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from simulacrum.contract.digest import MUTANTS
from simulacrum.contract.package import EnvPackage
from simulacrum.errors import PackageError
from simulacrum.mutate.mutant import Mutant


@dataclass(frozen=True)
class Argument:
    """Why one change is none: the fragments it is about, and the reason."""

    before: str
    after: str
    reason: str

    def fits(self, before: str, after: str) -> bool:
        """Whether it is about this change and not about another that came to have the same id."""
        return (self.before.strip(), self.after.strip()) == (before.strip(), after.strip())


def argument_for(mutant: Mutant, argued: Mapping[str, Argument]) -> Argument | None:
    """The reason why a mutant is no fault, or why it is none without its dose; None where nobody gave one."""
    for name, before, after in ((mutant.id, mutant.before, mutant.after), mutant.undosed or ("", "", "")):
        if name in argued and argued[name].fits(before, after):
            return argued[name]
    return None


def arguments(package: EnvPackage) -> dict[str, Argument]:
    """The written reasons of a package by mutant id; empty where it has no such file.

    Raises:
        PackageError: the file is not JSON, or not of this form.
    """
    path = package.folder / MUTANTS
    if not path.is_file():
        return {}
    try:
        body = cast("Mapping[str, Any]", json.loads(path.read_text("utf-8")))
        made = {name: Argument(**one) for name, one in body["mutants"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _wrong(path, error) from error
    empty = [name for name, one in made.items() if not one.reason.strip()]
    if body.get("version") != 1 or empty:
        raise _wrong(path, f"no reason is given for {', '.join(empty)}" if empty else "another version")
    return made


def _wrong(path: Path, found: object) -> PackageError:
    return PackageError(
        "mutants.json is not of the form that is read",
        expected='{"version": 1, "mutants": {ID: {"before": TEXT, "after": TEXT, "reason": TEXT}}}',
        found=str(found),
        where=path,
        next_step="mend it, or remove it",
    )
