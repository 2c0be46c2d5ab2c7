"""What tests of several rooms share: small environment packages, and ways to run and compare environments."""

from __future__ import annotations

import functools
from pathlib import Path

from simulacrum.contract.package import EnvPackage, load_package

FOLDER = Path(__file__).parent
NAMES = ("counter", "glider", "dials", "canvas", "rivals")


@functools.cache
def package(name: str) -> EnvPackage:
    """The kit's package of that name, or a built-in one; loaded once, so that twins and compiled steps are shared."""
    return load_package(FOLDER / name) if name in NAMES else load_package(name)
