"""Fast batched RL environments that are provably the same as the ones you can read.

Importing this package registers its environments with Gymnasium and imports no torch; every public name
below is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulacrum import errors
    from simulacrum.attest.gate import require_fresh_report
    from simulacrum.contract.package import load_package
    from simulacrum.engine.vector import SimulacrumVectorEnv
    from simulacrum.registry import register_envs
    from simulacrum.twin.batched import BatchedEnv
    from simulacrum.twin.invariant import invariant
    from simulacrum.twin.reference import ReferenceEnv

__all__ = [
    "BatchedEnv",
    "ReferenceEnv",
    "SimulacrumVectorEnv",
    "__version__",
    "errors",
    "invariant",
    "load_package",
    "register_envs",
    "require_fresh_report",
]

_HOMES = {
    "BatchedEnv": "simulacrum.twin.batched",
    "ReferenceEnv": "simulacrum.twin.reference",
    "SimulacrumVectorEnv": "simulacrum.engine.vector",
    "invariant": "simulacrum.twin.invariant",
    "load_package": "simulacrum.contract.package",
    "register_envs": "simulacrum.registry",
    "require_fresh_report": "simulacrum.attest.gate",
}

try:
    __version__ = version("simulacrum")
except PackageNotFoundError:  # a checkout on the path that nobody installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("simulacrum.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'simulacrum' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _register() -> None:
    try:
        importlib.import_module("simulacrum.registry").register_envs()
    except ModuleNotFoundError as missing:
        # The scalar rooms serve the reference twins where neither of these is installed (a browser page,
        # say); there is then nothing to register with.
        if (missing.name or "").partition(".")[0] not in ("gymnasium", "numpy"):
            raise


_register()
