"""Mutants by hand: one replacement in one file of a package."""

from __future__ import annotations

from pathlib import Path

from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.harness.canaries import HOME
from simulacrum.mutate.mutant import Mutant

GOAL = "        end = place >= GOAL  # bool [N]"


def canary() -> EnvPackage:
    """The smallest package there is."""
    return load_package(Path(HOME))


def planted_by_hand(package: EnvPackage, old: str, new: str, *, file: str = "fast.py", name: str = "") -> Mutant:
    """A mutant with `new` in the place of `old`, which stands once in the file."""
    text = (package.folder / file).read_text("utf-8")
    assert text.count(old) == 1, (file, old)
    line = text[: text.index(old)].count("\n") + 1
    source = text.replace(old, new)
    name = name or f"{abs(hash((old, new))):08x}"[:8]
    return Mutant(name, "K20", "by hand", file, line, old.strip(), new.strip(), source, original=text)
